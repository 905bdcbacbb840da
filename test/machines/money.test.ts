/** Money grammar, scale, ceiling and rounding (F1, F2) and the currency table (A2-12). */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"
import { currencyCodes, currencyFacts, isCurrency, scaleOf } from "../../src/machines/shared/Currency.ts"
import {
  ceilToMinor,
  floorToMinor,
  formatAmount,
  maxMinor,
  MoneyDecimal,
  MoneyText,
  parseAmount,
  parsePositiveAmount,
  PositiveAmountText,
  toDecimal,
  decimalText
} from "../../src/machines/shared/Money.ts"
import { roundingCases, usdcRoundingCases } from "../fixtures/golden.ts"

const currency = fc.constantFrom(...currencyCodes)
const anyMinor = fc.bigInt({ min: -maxMinor, max: maxMinor })

const plain = "The amount must be a plain decimal number such as 12.50, without sign, exponent or grouping."

describe("F2 input grammar", () => {
  const accepted = [
    ["0", "USDC", 0n],
    ["12.5", "USDC", 12_500_000n],
    [" 12.50\u00a0", "EUR", 1250n],
    ["0.000001", "USDC", 1n],
    ["0.100000", "USDC", 100_000n],
    ["1.000000000", "SOL", 1_000_000_000n],
    ["9223372036854.775807", "USDC", maxMinor],
    ["92233720368547758.07", "EUR", maxMinor]
  ] as const
  it.each(accepted)("F2: %j of %s is accepted", (text, code, minor) => {
    assert.strictEqual(parseAmount(text, code), minor)
  })

  const refused = [
    ["", "USDC", plain],
    ["01", "USDC", plain],
    ["1.", "USDC", plain],
    [".5", "USDC", plain],
    ["+1", "USDC", plain],
    ["-1", "USDC", plain],
    ["1e3", "USDC", plain],
    ["1,000", "USDC", plain],
    ["1 000", "USDC", plain],
    ["0x10", "USDC", plain],
    ["\u0661", "USDC", plain],
    ["\uff11", "USDC", plain],
    ["1\n2", "USDC", plain],
    ["NaN", "USDC", plain],
    ["1000000000000000000", "USDC", plain],
    ["0.0000000000000000001", "USDC", plain],
    [12.5, "USDC", "The amount must be a decimal string such as 12.50."],
    [null, "USDC", "The amount must be a decimal string such as 12.50."],
    ["1.0000000", "USDC", "The amount must have at most 6 decimal places for USDC."],
    ["1.000", "EUR", "The amount must have at most 2 decimal places for EUR."],
    ["9223372036854.775808", "USDC", "The amount is too large."],
    ["999999999999999999", "SOL", "The amount is too large."]
  ] as const
  it.each(refused)("F2: %j of %s is refused", (text, code, sentence) => {
    assert.strictEqual(parseAmount(text, code), sentence)
    assert.strictEqual(parsePositiveAmount(text, code), sentence)
  })

  it.each(["0", "0.0", "0.000000"])("F2: zero written %j is refused where more than zero is needed", (text) => {
    assert.strictEqual(parseAmount(text, "USDC"), 0n)
    assert.strictEqual(parsePositiveAmount(text, "USDC"), "The amount must be greater than zero.")
  })
})

describe("F2 output", () => {
  it("F2: the full scale is always written", () => {
    assert.strictEqual(formatAmount(0n, "USDC"), "0.000000")
    assert.strictEqual(formatAmount(-5n, "EUR"), "-0.05")
    assert.strictEqual(formatAmount(-123_456_789n, "BTC"), "-1.23456789")
    assert.strictEqual(formatAmount(maxMinor, "SOL"), "9223372036.854775807")
  })

  it("F2: no figure is written with a minus before a zero, after any rounding, although Decimal would write it", () => {
    const figure = fc.tuple(fc.integer({ min: -2_000, max: 2_000 }), fc.integer({ min: 0, max: 12 }))
    fc.assert(
      fc.property(
        figure,
        fc.integer({ min: 0, max: 8 }),
        fc.integer({ min: 0, max: 8 }),
        ([units, places], kept, way) => {
          const value = new MoneyDecimal(units).div(new MoneyDecimal(10).pow(places))
          for (const zero of [value, value.mul(0).neg(), new MoneyDecimal("-0")]) {
            for (const text of [decimalText(zero), decimalText(zero, kept), decimalText(zero, kept, way as 4)]) {
              assert.notMatch(text, /^-[0.]*$/)
            }
          }
          const plain = value.toFixed(kept)
          assert.strictEqual(decimalText(value, kept), Number(plain) === 0 ? plain.replace("-", "") : plain)
        }
      )
    )
  })

  it("F2: a written amount is read back as the same minor units", () => {
    fc.assert(
      fc.property(anyMinor, currency, (minor, code) => {
        const text = formatAmount(minor, code)
        assert.isTrue(Schema.is(MoneyText)(text))
        assert.strictEqual(text.split(".")[1]?.length, scaleOf(code))
        const size = minor < 0n ? -minor : minor
        assert.strictEqual(parseAmount(text.replace("-", ""), code), size)
        assert.strictEqual(floorToMinor(toDecimal(minor, code), code), minor)
        assert.strictEqual(ceilToMinor(toDecimal(minor, code), code), minor)
      })
    )
  })

  it("F2: the request schema and the parser give one verdict", () => {
    const digits = fc.string({ unit: fc.constantFrom(..."0123456789.-e "), maxLength: 24 })
    fc.assert(
      fc.property(fc.oneof(digits, fc.string(), fc.double(), fc.constant(null)), currency, (value, code) => {
        const parsed = parsePositiveAmount(value, code)
        assert.strictEqual(Schema.is(PositiveAmountText(code))(value), typeof parsed === "bigint")
      })
    )
  })
})

describe("F1 rounding", () => {
  it.each(roundingCases)("F1: $id decimal.js rounds $value", ({ value, places, mode, result }) => {
    assert.strictEqual(new MoneyDecimal(value).toDecimalPlaces(places, mode).toFixed(), result)
  })

  it("F1: RND-011 client amounts floor, requirements ceil", () => {
    for (const { value, result } of usdcRoundingCases.amounts) {
      assert.strictEqual(formatAmount(floorToMinor(value, "USDC"), "USDC"), result)
    }
    for (const { value, result } of usdcRoundingCases.requirements) {
      assert.strictEqual(formatAmount(ceilToMinor(value, "USDC"), "USDC"), result)
    }
  })

  it("F1: a figure equals the result of decimal arithmetic, for any places, sign and zeros", () => {
    const whole = fc.oneof(fc.constantFrom("0", "00", "1e2", "+7"), fc.bigInt({ min: 0n, max: 10n ** 21n }).map(String))
    const fraction = fc.oneof(
      fc.constant(""),
      fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: 24 }).map((digits) => `.${digits}`)
    )
    const text = fc
      .tuple(fc.constantFrom("", "-"), whole, fraction)
      .map((parts) => parts.join(""))
      .filter((each) => !each.includes("-+") && !/e.*[.]/.test(each))
    fc.assert(
      fc.property(text, currency, (each, code) => {
        const scale = scaleOf(code)
        const rounded = (mode: Parameters<MoneyDecimal["toDecimalPlaces"]>[1]) =>
          BigInt(new MoneyDecimal(each).toDecimalPlaces(scale, mode).mul(`1e${scale}`).toFixed(0))
        for (const figure of [each, new MoneyDecimal(each)]) {
          assert.strictEqual(floorToMinor(figure, code), rounded(MoneyDecimal.ROUND_FLOOR))
          assert.strictEqual(ceilToMinor(figure, code), rounded(MoneyDecimal.ROUND_CEIL))
        }
      })
    )
  })

  it("F1: a value that is no number is no money", () => {
    for (const figure of ["", "NaN", "Infinity", "one", new MoneyDecimal(Number.NaN)])
      assert.throws(() => floorToMinor(figure, "USDC"))
  })

  it("F1: floor and ceil enclose the figure, less than one minor unit apart", () => {
    fc.assert(
      fc.property(anyMinor, fc.integer({ min: 1, max: 999 }), (minor, thousandths) => {
        const figure = toDecimal(minor, "USDC").plus(new MoneyDecimal(thousandths).mul("1e-9"))
        assert.strictEqual(floorToMinor(figure, "USDC"), minor)
        assert.strictEqual(ceilToMinor(figure, "USDC"), minor + 1n)
      })
    )
  })
})

describe("A2-12 currencies", () => {
  it("A2-12: kinds, scales and display places", () => {
    const rows = currencyCodes.map((code) => {
      const { kind, scale, displayDecimals } = currencyFacts[code]
      return `${code} ${kind} ${scale} ${displayDecimals}`
    })
    assert.deepStrictEqual(rows, [
      "USDC CASH 6 2",
      "BTC ASSET 8 8",
      "ETH ASSET 8 6",
      "SOL ASSET 9 4",
      "BNB ASSET 8 5",
      "XRP ASSET 6 4",
      "EUR CASH 2 2",
      "USD1 CASH 6 2"
    ])
    assert.isFalse(isCurrency("usdc"))
    assert.isFalse(isCurrency("USD"))
  })
})
