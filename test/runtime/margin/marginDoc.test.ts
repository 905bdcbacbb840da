/** The worked examples of docs/margin.md equal the results of the rules (F4, F7, F9, F10, F12). */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { formatAmount, MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { accountIn } from "../../../src/runtime/services/account/accountNow.ts"
import { accountOf, gold, marketsAt, perp } from "../order/leverageTurns.ts"

const page = readFileSync(new URL("../../../docs/margin.md", import.meta.url), "utf8")
const facts = marketsAt({ [perp]: { price: "55000" }, [gold]: { price: "4000" } })
const { commissionBps } = facts.terms

const exampleOf = (heading: string): string => {
  const section = page.slice(page.indexOf(`## ${heading}`))
  const from = section.indexOf("**Example.**")
  const end = section.indexOf("\n## ", from)
  return section.slice(from, end === -1 ? undefined : end)
}
const usdc = (minor: bigint): string => formatAmount(minor, "USDC")
const six = (value: MoneyDecimal): string => value.toFixed(6)
/** Cash, equity, base and level as a row of the table. */
const rowAt = (cash: string, positions: Parameters<typeof accountOf>[0]["positions"]): string => {
  const { risk } = accountIn(accountOf({ cash, positions: positions ?? [] }), facts)
  const level = risk.marginLevel === null ? "" : ` ${risk.marginLevel}`
  return `| ${six(new MoneyDecimal(cash))} | ${usdc(risk.closeOutEquity)} | ${usdc(risk.marginBase)} |${level} |`
}
const charged = (qty: string, price: string): MoneyDecimal =>
  new MoneyDecimal(qty).mul(price).mul(commissionBps.PERP).div(10_000)

const btc = { netQty: "0.1" }
const xau = { symbol: gold, netQty: "1", avgEntry: "4000" }
const lost = new MoneyDecimal("0.1").mul(60_000 - 55_000)
const [ofBtc, ofXau] = [charged("0.1", "55000"), charged("1", "4000")]

describe("docs/margin.md", () => {
  it("F9: the close-out of two positions", () => {
    const example = exampleOf("Close-out")
    const afterBtc = new MoneyDecimal(590).minus(lost).minus(ofBtc)
    const afterBoth = afterBtc.minus(ofXau)
    assert.include(example, rowAt("590", [btc, xau]))
    assert.include(example, `a loss of ${six(lost)}, a commission of ${six(ofBtc)} ${rowAt(afterBtc.toFixed(), [xau])}`)
    assert.include(example, `a commission of ${six(ofXau)} ${rowAt(afterBoth.toFixed(), [])}`)
    const richer = new MoneyDecimal(700).minus(lost).minus(ofBtc)
    const { risk } = accountIn(accountOf({ cash: richer.toFixed(), positions: [xau] }), facts)
    assert.strictEqual(risk.riskState, "MARGIN_CALL")
    assert.include(example, `${usdc(risk.closeOutEquity)} of ${usdc(risk.marginBase)} are ${risk.marginLevel} %`)
  })

  it("F10: the write-off", () => {
    const example = exampleOf("Negative balance protection")
    const afterPnl = new MoneyDecimal(400).minus(lost)
    const owed = afterPnl.minus(ofBtc)
    assert.include(example, `| PNL | ${six(lost.neg())} | ${six(afterPnl)} |`)
    assert.include(example, `| COMMISSION | ${six(ofBtc.neg())} | ${six(owed)} |`)
    assert.include(example, `| NBP_WRITEOFF | ${six(owed.neg())} | 0.000000 |`)
    assert.include(example, `add up to ${six(lost.neg().minus(ofBtc).minus(owed))}`)
  })
})
