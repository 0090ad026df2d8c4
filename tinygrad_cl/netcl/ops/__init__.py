"""Operations on tensors, none of which knows anything of gradients being recorded."""
