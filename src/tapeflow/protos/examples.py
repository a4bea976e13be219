"""Examples: features by name."""

TABLE = """
BytesList
    value 1 bytes*

FloatList
    value 1 float*

Int64List
    value 1 int64*

Feature
    bytes_list 1 BytesList in kind
    float_list 2 FloatList in kind
    int64_list 3 Int64List in kind

Features
    feature 1 map<string,Feature>

FeatureList
    feature 1 Feature*

FeatureLists
    feature_list 1 map<string,FeatureList>

Example
    features 1 Features

SequenceExample
    context 1 Features
    feature_lists 2 FeatureLists
"""
