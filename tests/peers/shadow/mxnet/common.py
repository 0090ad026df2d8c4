def xfail_when_nonstandard_decimal_separator(test):
    return test
