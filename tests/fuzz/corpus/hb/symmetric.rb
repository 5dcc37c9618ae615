written by krylocl                                                      symmetri
             3             1             1             1
rsa                        3             3             4             0
(40I2)          (40I2)          (11E7.1)            
 1 3 4 5
 1 2 3 3
    2.5 -0.001    0.5     4.
