/**
 * The output of `explain` for a person: the deciding figure, the missing parts, and every field of the write (operator
 * surface; A3-02, A3-14, F2, F25).
 */
import { assert, describe, it } from "@effect/vitest"
import { runRecorded } from "./operatorHarness.ts"
import { openOperator, operatorCalls } from "./operatorScenario.ts"

const service = await openOperator({ settings: { sourceOfWealthThreshold: 1n << 70n } })
const request = operatorCalls(service)

const broker = { custody: "BROKER", collateralAsset: "", sandbox: false } as const
const nearlyAll = "9223372036854"

interface Gate {
  readonly gate: string
  readonly status: string
  readonly compared: { readonly figure: string; readonly limit: string } | null
}

let references = 0
const write = async (key: string, clientId: number, route: string, body: object) => {
  const sent = { partnerRef: `ref-${++references}`, currency: "USDC", ...body }
  const answer = await service.call("POST", `/partner/v1/clients/${clientId}/${route}`, { key, body: sent })
  if (answer.status >= 300) throw new Error(answer.text)
  return answer.json.data
}
const gateOf = (explained: { readonly gates: ReadonlyArray<Gate> }, name: string) =>
  explained.gates.find(({ gate }) => gate === name)

const ask = (path: string) =>
  request("GET", `/clients/${path}`, {
    key: service.keys.SUPPORT
  })

describe("operator surface, explain", () => {
  it("F2: the size of a collateral report fails on the deposits of a lifetime, and shows them", async () => {
    const { key } = await service.partner({ code: "SIZEC" })
    const clientId = await service.client(key)
    await write(key, clientId, "collateral", { direction: "DEPOSIT", amount: nearlyAll })
    await write(key, clientId, "collateral", { direction: "WITHDRAWAL", amount: nearlyAll })
    const line = ["explain", "collateral", String(clientId), "--direction", "DEPOSIT", "--amount"]
    assert.deepStrictEqual(gateOf(await service.done([...line, "10"]), "size"), {
      gate: "size",
      status: "failed",
      compared: { figure: "deposits 9223372036864.000000 USDC", limit: "deposits 9223372036854.775807 USDC" },
      code: 4000,
      sentence: "The amount is too large for the balance it leads to."
    } as Gate)
    assert.deepStrictEqual(gateOf(await service.done([...line, "0.5"]), "size")?.compared, {
      figure: "0.500000",
      limit: "9223372036854.775807"
    })
  })

  it("F2: so does the size of a deposit notice; over the limit itself, cash is shown", async () => {
    const { key } = await service.partner({ code: "SIZED", ...broker })
    const clientId = await service.client(key)
    const { noticeId } = await write(key, clientId, "deposits", { amount: nearlyAll })
    await service.done(["deposit", "confirm", String(noticeId)])
    const line = ["explain", "deposit", String(clientId), "--amount", "10"]
    assert.strictEqual(gateOf(await service.done(line), "size")?.compared?.figure, "9223372036864.000000")
    const adjust = ["ledger", "adjust", String(clientId), "--currency", "USDC", "--amount", `-${nearlyAll}`]
    await service.done([...adjust, "--reason", "r"])
    assert.deepInclude(gateOf(await service.done(line), "size"), {
      status: "failed",
      compared: { figure: "deposits 9223372036864.000000 USDC", limit: "deposits 9223372036854.775807 USDC" }
    })
  })

  it("A1-30: a refusal for verification names the missing parts, and the figure of the source of wealth", async () => {
    const { key } = await service.partner({ code: "MISSING", ...broker })
    const clientId = await service.client(key)
    await service.done(["kyc", "reject", String(clientId), "--reason", "documents are false"])
    const line = ["explain", "withdrawal", String(clientId), "--amount", "5"]
    const explained = await service.done(line)
    const { figure } = gateOf(explained, "verification")?.compared ?? {}
    assert.strictEqual(explained.code, 4030)
    assert.strictEqual(figure, "NONE, deposits 0.000000 USDC, source of wealth REJECTED")
    assert.isNotEmpty(explained.data.missingBlocks)
    const shown = await runRecorded([...line, ...service.connection("SUPPORT")])
    assert.include(shown.stdout.replaceAll(/\s+/g, " "), `Missing: ${explained.data.missingBlocks.join(", ")}.`)
  })

  it("A3-02: the owner of the reference", async () => {
    const { key } = await service.partner({ code: "WHOSE", ...broker })
    const clientId = await service.client(key)
    const { partnerRef } = await write(key, await service.client(key), "deposits", { amount: "1" })
    const line = ["explain", "deposit", String(clientId), "--amount", "5"]
    const compared = async (more: ReadonlyArray<string>) =>
      gateOf(await service.done([...line, ...more]), "reference")?.compared
    assert.deepStrictEqual(await compared([]), { figure: "free", limit: "free" })
    assert.deepStrictEqual(await compared(["--partner-ref", partnerRef]), { figure: "another client's", limit: "free" })
  })

  it.each([
    ["deposit", ["--method", "CARD"], "method"],
    ["deposit", ["--evidence-ref", "e".repeat(201)], "evidenceRef"],
    ["withdrawal", ["--destination", JSON.stringify({ account: "9".repeat(4_096) })], "destination"],
    ["withdrawal", ["--destination", '"x"'], "destination"],
    ["collateral", ["--source-asset", "a".repeat(33)], "sourceAsset"],
    ["collateral", ["--tx-ref", "t".repeat(129)], "txRef"],
    ["collateral", ["--occurred-at", "9007199254740991"], "occurredAt"]
  ] as const)("A3-14: explain %s accepts %j, which the write would refuse", async (name, more, field) => {
    const { key } = await service.partner({
      code: `F${++references}`,
      ...(name === "collateral" ? {} : broker)
    })
    const clientId = String(await service.client(key))
    const explained = await service.done(["explain", name, clientId, "--amount", "5", ...more])
    assert.deepStrictEqual([explained.outcome, Object.keys(explained.data.errors)], ["REFUSED", [field]])
  })

  it("a destination that is no JSON and a field that the write does not have are refused", async () => {
    const { key } = await service.partner({ code: "UNKNOWN", ...broker })
    const clientId = await service.client(key)
    const bad = await ask(`${clientId}/explain/withdrawal?amount=1&destination=%7B`)
    const errors = ({ json }: { readonly json: unknown }) => (json as { data: { errors: object } }).data.errors
    assert.deepStrictEqual([bad.status, Object.keys(errors(bad))], [400, ["destination"]])
    const misspelt = await ask(`${clientId}/explain/withdrawal?amount=1&Destination=%7B%7D`)
    assert.deepStrictEqual(
      [misspelt.status, errors(misspelt)],
      [400, { Destination: "This question has no such field." }]
    )
  })
})
