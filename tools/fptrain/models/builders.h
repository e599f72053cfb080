/* SPDX-License-Identifier: BSD-2-Clause */
/* builders.h - a function for each model. */
#ifndef FPTRAIN_MODELS_BUILDERS_H
#define FPTRAIN_MODELS_BUILDERS_H

#include "models/parts.h"

/* x: the fed batch. They return the value of the logits, or -1 and a sentence where the sizes do not fit. */
int build_mlp(const plan *p, int x);
int build_lenet(const plan *p, int x);
int build_alexnet(const plan *p, int x);
int build_vgg(const plan *p, int x);
int build_googlenet(const plan *p, int x);
int build_squeezenet(const plan *p, int x);
int build_resnet(const plan *p, int x);
int build_resnet20(const plan *p, int x);
int build_resnet32(const plan *p, int x);
int build_resnet56(const plan *p, int x);
int build_resnet110(const plan *p, int x);
int build_resnet18(const plan *p, int x);
int build_mobilenetv2(const plan *p, int x);
int build_shufflenetv2(const plan *p, int x);
int build_charlstm(const plan *p, int x);
int build_chargpt(const plan *p, int x);

#endif
