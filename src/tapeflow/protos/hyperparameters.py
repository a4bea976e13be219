"""Named hyperparameters."""

TABLE = """
HParamDef
    hparam 1 map<string,HParamDef.HParamType>

HParamDef.BytesList
    value 1 bytes*

HParamDef.FloatList
    value 1 float*

HParamDef.Int64List
    value 1 int64*

HParamDef.BoolList
    value 1 bool*

HParamDef.HParamType
    int64_value 1 int64 in kind
    float_value 2 float in kind
    bytes_value 3 bytes in kind
    int64_list 4 HParamDef.Int64List in kind
    float_list 5 HParamDef.FloatList in kind
    bytes_list 6 HParamDef.BytesList in kind
    bool_value 7 bool in kind
    bool_list 8 HParamDef.BoolList in kind
"""
