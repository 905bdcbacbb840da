;; Counts, for 128 names at a time, how many letters of the query each name lacks (NameSheets.ts). Every bit of a pattern
;; has a row with one bit for each name, so an addition to the counts of 128 names is a few operations on whole vectors:
;; ones, twos, fours, eights and sixteens hold a bit of every name's count. Counts start at a value that makes them
;; overflow with the first letter too many, and an overflow stays set; when all 128 have overflowed, the rest of their
;; rows is not read.
;;
;; Memory: the addresses of the query's rows from 0, space for one column's counts at 2048, the results from 4096.
(module
  (memory (export "memory") 1)

  ;; One bit of a number, for every name.
  (func $forAll (param $number i32) (param $bit i32) (result v128)
    (i32x4.splat
      (i32.sub
        (i32.const 0)
        (i32.and (i32.shr_u (local.get $number) (local.get $bit)) (i32.const 1)))))

  ;; One bit of a word of counts, as a number.
  (func $bitAt (param $word i32) (param $bit i32) (result i32)
    (i32.and (i32.shr_u (local.get $word) (local.get $bit)) (i32.const 1)))

  ;; Searches column $from to column $to, 128 names each. Returns the number of results, each a word: the number of the
  ;; name in the sheet and, from bit 24, its count.
  (func (export "find") (param $from i32) (param $to i32) (param $asked i32) (param $begin i32) (result i32)
    (local $row i32) (local $found i32) (local $word i32) (local $left i32) (local $bit i32)
    (local $ones v128) (local $twos v128) (local $fours v128) (local $eights v128) (local $sixteens v128) (local $over v128)
    (local $carry v128) (local $more v128)
    (local.set $found (i32.const 4096))
    (block $done
      (loop $columns
        (br_if $done (i32.ge_u (local.get $from) (local.get $to)))
        (local.set $ones (call $forAll (local.get $begin) (i32.const 0)))
        (local.set $twos (call $forAll (local.get $begin) (i32.const 1)))
        (local.set $fours (call $forAll (local.get $begin) (i32.const 2)))
        (local.set $eights (call $forAll (local.get $begin) (i32.const 3)))
        (local.set $sixteens (call $forAll (local.get $begin) (i32.const 4)))
        (local.set $over (v128.const i32x4 0 0 0 0))
        (local.set $row (i32.const 0))
        (block $allOver
          (loop $rows
            ;; Adds one to the names that lack this letter.
            (local.set $carry
              (v128.not
                (v128.load
                  (i32.add (i32.load (local.get $row)) (i32.shl (local.get $from) (i32.const 4))))))
            (local.set $more (v128.and (local.get $ones) (local.get $carry)))
            (local.set $ones (v128.xor (local.get $ones) (local.get $carry)))
            (local.set $carry (v128.and (local.get $twos) (local.get $more)))
            (local.set $twos (v128.xor (local.get $twos) (local.get $more)))
            (local.set $more (v128.and (local.get $fours) (local.get $carry)))
            (local.set $fours (v128.xor (local.get $fours) (local.get $carry)))
            (local.set $carry (v128.and (local.get $eights) (local.get $more)))
            (local.set $eights (v128.xor (local.get $eights) (local.get $more)))
            (local.set $over
              (v128.or (local.get $over) (v128.and (local.get $sixteens) (local.get $carry))))
            (local.set $sixteens (v128.xor (local.get $sixteens) (local.get $carry)))
            (br_if $allOver (i32.eqz (v128.any_true (v128.not (local.get $over)))))
            (local.set $row (i32.add (local.get $row) (i32.const 4)))
            (br_if $rows (i32.lt_u (local.get $row) (i32.shl (local.get $asked) (i32.const 2)))))
          (v128.store offset=2048 (i32.const 0) (v128.not (local.get $over)))
          (v128.store offset=2064 (i32.const 0) (local.get $ones))
          (v128.store offset=2080 (i32.const 0) (local.get $twos))
          (v128.store offset=2096 (i32.const 0) (local.get $fours))
          (v128.store offset=2112 (i32.const 0) (local.get $eights))
          (v128.store offset=2128 (i32.const 0) (local.get $sixteens))
          (local.set $word (i32.const 0))
          (loop $words
            (local.set $left (i32.load offset=2048 (local.get $word)))
            (block $none
              (loop $names
                (br_if $none (i32.eqz (local.get $left)))
                (local.set $bit (i32.ctz (local.get $left)))
                (i32.store (local.get $found)
                  (i32.add
                    (i32.add
                      (i32.add
                        (i32.shl (local.get $from) (i32.const 7))
                        (i32.shl (local.get $word) (i32.const 3)))
                      (local.get $bit))
                    (i32.add
                      (i32.add
                        (i32.shl (call $bitAt (i32.load offset=2064 (local.get $word)) (local.get $bit)) (i32.const 24))
                        (i32.shl (call $bitAt (i32.load offset=2080 (local.get $word)) (local.get $bit)) (i32.const 25)))
                      (i32.add
                        (i32.add
                          (i32.shl (call $bitAt (i32.load offset=2096 (local.get $word)) (local.get $bit)) (i32.const 26))
                          (i32.shl (call $bitAt (i32.load offset=2112 (local.get $word)) (local.get $bit)) (i32.const 27)))
                        (i32.shl (call $bitAt (i32.load offset=2128 (local.get $word)) (local.get $bit)) (i32.const 28))))))
                (local.set $found (i32.add (local.get $found) (i32.const 4)))
                (local.set $left (i32.and (local.get $left) (i32.sub (local.get $left) (i32.const 1))))
                (br $names)))
            (local.set $word (i32.add (local.get $word) (i32.const 4)))
            (br_if $words (i32.lt_u (local.get $word) (i32.const 16)))))
        (local.set $from (i32.add (local.get $from) (i32.const 1)))
        (br $columns)))
    (i32.shr_u (i32.sub (local.get $found) (i32.const 4096)) (i32.const 2)))
)
