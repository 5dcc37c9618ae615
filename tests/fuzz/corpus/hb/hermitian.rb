written by krylocl                                                      hermitia
             3             1             1             1
cha                        2             2             3             0
(40I2)          (40I2)          (13E6.1)            
 1 3 4
 1 2 2
    2.    0. -1.25  300.    1.    0.
