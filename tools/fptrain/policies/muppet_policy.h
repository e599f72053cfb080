/* SPDX-License-Identifier: BSD-2-Clause */
/* muppet_policy.h - training under MuPPET: the word length of every tensor, and the learning rate that goes with it. */
#ifndef FPTRAIN_POLICIES_MUPPET_POLICY_H
#define FPTRAIN_POLICIES_MUPPET_POLICY_H

#include "policies/policy.h"

/* text: as muppet_read. Its note for the summary: after which policy epochs the word length grew. */
policy *policy_muppet(const char *text, trouble *why);

#endif
