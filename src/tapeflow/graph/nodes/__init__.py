"""Operations made of `NodeDef`s, and how nodes without a row run."""
