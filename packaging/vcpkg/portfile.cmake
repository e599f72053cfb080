# The library alone: vcpkg packages no programs. It needs no library but libc, and OpenMP where the compiler has it.
# release: the address and the checksum of the archive that `make dist` made
vcpkg_download_distfile(archive
    URLS "${LIBFPEMU_RELEASE_URL}"
    FILENAME "libfpemu-${VERSION}.tar.xz"
    SHA512 "${LIBFPEMU_RELEASE_SHA512}"
)
vcpkg_extract_source_archive(source ARCHIVE "${archive}")

vcpkg_configure_make(SOURCE_PATH "${source}" OPTIONS --disable-tools --without-cuda --without-mpfr)
vcpkg_install_make()
vcpkg_fixup_pkgconfig()
vcpkg_cmake_config_fixup(PACKAGE_NAME fpemu CONFIG_PATH lib/cmake/fpemu)

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${source}/COPYING")
