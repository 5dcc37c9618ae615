written by krylocl                                                      pattern.
             2             1             1             0
pra                        3             2             3             0
(40I2)          (40I2)                              
 1 3 4
 1 3 3
