written by krylocl                                                      skew.rb 
             3             1             1             1
rza                        3             3             2             0
(40I2)          (40I2)          (4E20.12)           
 1 3 3 3
 2 3
                 -7. 123456789012345680.
