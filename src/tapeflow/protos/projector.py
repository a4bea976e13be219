"""The configuration of TensorBoard's projector of embeddings."""

TABLE = """
SpriteMetadata
    image_path 1 string
    single_image_dim 2 uint32*

EmbeddingInfo
    tensor_name 1 string
    metadata_path 2 string
    bookmarks_path 3 string
    tensor_shape 4 uint32*
    sprite 5 SpriteMetadata
    tensor_path 6 string

ProjectorConfig
    model_checkpoint_path 1 string
    embeddings 2 EmbeddingInfo*
    model_checkpoint_dir 3 string
"""
