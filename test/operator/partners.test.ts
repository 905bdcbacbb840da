/** Partners, keys and operator keys through the command line, on a real service (D15, D16, D17; A1-06, A1-08). */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cidrSentence } from "../../src/runtime/services/partners/addressRanges.ts"
import { uidPrefixShape } from "../../src/http/api/operator/PartnerGroup.ts"
import { hashKey } from "../../src/runtime/services/shared/Secret.ts"
import { derivedPrefix, freePrefixes } from "../../src/runtime/services/partners/uidPrefixes.ts"
import { runRecorded } from "./operatorHarness.ts"
import { openOperator } from "./operatorScenario.ts"

const service = await openOperator()

const creation = (code: string, ...more: ReadonlyArray<string>) => [
  "partner",
  "create",
  "--code",
  code,
  "--name",
  `${code} Name`,
  "--legal-name",
  `${code} AG`,
  "--country",
  "DE",
  "--licence",
  "MICA_CASP",
  ...more
]
const rows = (sql: string) =>
  service.run(Effect.flatMap(PgClient.PgClient, (client) => client.unsafe<Record<string, unknown>>(sql)))
const epochOf = async (code: string) =>
  Number((await rows(`SELECT epoch FROM partners WHERE code = '${code}'`))[0]?.epoch)

describe("operator surface, partners", () => {
  it("doc 1, Partner profile: create answers the whole profile; the first partner has uid prefix CL", async () => {
    const made = await service.done(creation("FIRST"))
    const { partnerId, createdAt, ...rest } = made
    assert.isAbove(partnerId, 0)
    assert.isAbove(createdAt, 0)
    assert.deepStrictEqual(rest, {
      code: "FIRST",
      name: "FIRST Name",
      legalName: "FIRST AG",
      country: "DE",
      licenceType: "MICA_CASP",
      relianceStatus: "NONE",
      status: "ACTIVE",
      sandbox: false,
      custodyModel: "BROKER",
      collateralAsset: "",
      limits: { readPerMinute: 600, tradePerMinute: 120 },
      allowedCidrs: [],
      uidPrefix: "CL",
      notes: []
    })
    const { notes: _, ...profile } = made
    assert.deepStrictEqual(await service.done(["partner", "show", "FIRST"]), profile)
    assert.deepStrictEqual(await service.done(["partner", "show", String(partnerId)], "SUPPORT"), profile)
  })

  it("a second partner gets a prefix from its code, and learns it; taken codes and prefixes are refused", async () => {
    const made = await service.done(creation("sec-2"))
    assert.strictEqual(made.uidPrefix, "SEC2")
    assert.strictEqual(made.notes.length, 1)
    assert.strictEqual((await service.cli(creation("FIRST"))).refusal.code, 4092)
    assert.strictEqual((await service.cli(creation("first"))).refusal.code, 4092)
    assert.strictEqual((await service.cli(creation("THIRD", "--uid-prefix", "CL"))).refusal.code, 4092)
    assert.isUndefined(
      (await service.done(["partner", "list"])).partners.find((row: { code: string }) => row.code === "THIRD")
    )
  })

  it.each([
    ["1_000", null],
    ["acme-bank", "ACMEBANK"],
    ["9lives", "LIVES"],
    ["averylongcode", "AVERYLON"]
  ])("uid prefix of code %s is %s", (code, prefix) => {
    assert.strictEqual(derivedPrefix(code), prefix)
  })

  it.each([
    ["acme", ["CL"], ["ACME", "ACME2", "ACME3"]],
    ["averylongcode", ["CL", "AVERYLON"], ["AVERYLO2", "AVERYLO3", "AVERYLO4"]],
    ["1_000", ["CL", "CL2"], ["CL3", "CL4", "CL5"]],
    ["cl", ["CL"], ["CL2", "CL3", "CL4"]],
    ["acme", [], ["CL", "ACME", "ACME2"]]
  ] as const)("F31: a partner with code %s, while %j are taken, is offered %j", (code, inUse, prefixes) => {
    assert.deepStrictEqual<unknown>(freePrefixes(code, new Set(inUse)).slice(0, 3), prefixes)
  })

  it("F31: prefixes keep their shape and length beyond any number of partners", () => {
    const taken = new Set<string>()
    for (let n = 0; n < 12; n++) for (const prefix of freePrefixes("averylongcode", taken)) taken.add(prefix)
    assert.strictEqual(taken.size, 1_200)
    for (const prefix of taken) assert.match(prefix, uidPrefixShape)
  })

  it("F31: creation without a chosen prefix succeeds with any prefixes in use, also for many at the same time", async () => {
    const codes = ["longcode-1", "longcode-2", "LONGCODE", ...Array.from({ length: 8 }, (_, n) => `longcode${n}`)]
    const made = await Promise.all(codes.map((code) => service.done(creation(code))))
    const prefixes = made.map(({ uidPrefix }) => uidPrefix)
    assert.strictEqual(new Set(prefixes).size, codes.length)
    for (const { uidPrefix, notes } of made) {
      assert.match(uidPrefix, /^(LONGCODE|LONGCOD[0-9]|LONGCO[0-9]{2})$/)
      assert.lengthOf(notes, 1)
      assert.include(notes[0], `this one has ${uidPrefix}.`)
    }
  })

  it("custody, collateral asset and fields are checked together, one sentence a field", async () => {
    const ran = await service.cli(creation("BAD", "--custody", "PARTNER"))
    assert.deepStrictEqual([ran.status, ran.refusal.code], [1, 4000])
    assert.deepStrictEqual(Object.keys(ran.refusal.data.errors), ["collateralAsset"])
    const fields = await service.cli([
      "partner",
      "create",
      "--code",
      "42",
      "--name",
      "",
      "--legal-name",
      "L",
      "--country",
      "UK",
      "--licence",
      "EMI",
      "--uid-prefix",
      "x"
    ])
    assert.sameMembers(Object.keys(fields.refusal.data.errors), ["code", "name", "country", "uidPrefix"])
    const made = await service.done(
      creation("CUSTODY", "--custody", "PARTNER", "--collateral-asset", "EURD", "--sandbox")
    )
    assert.deepStrictEqual([made.custodyModel, made.collateralAsset, made.sandbox], ["PARTNER", "EURD", true])
  })

  it("D16: APPROVED from NONE records both moves, and each change raises the epoch", async () => {
    const before = await epochOf("FIRST")
    const made = await service.done(["partner", "reliance", "FIRST", "APPROVED", "--reason", "agreement"], "COMPLIANCE")
    assert.strictEqual(made.relianceStatus, "APPROVED")
    assert.strictEqual(await epochOf("FIRST"), before + 1)
    const { entries } = await service.done(["audit", "tail", "--partner", "FIRST"])
    assert.includeMembers(
      entries.map((row: { action: string }) => row.action),
      ["reliance.request", "reliance.approve"]
    )
    const backwards = await service.cli(["partner", "reliance", "FIRST", "REQUESTED", "--reason", "x"])
    assert.deepStrictEqual([backwards.status, backwards.refusal.code], [1, 4092])
    assert.strictEqual(await epochOf("FIRST"), before + 1)
  })

  it("limits and address ranges replace the previous ones, raise the epoch and are audited", async () => {
    const before = await epochOf("FIRST")
    const limited = await service.done(["partner", "limits", "FIRST", "--trade", "1000000000"])
    assert.deepStrictEqual(limited.limits, { readPerMinute: 600, tradePerMinute: 1_000_000_000 })
    assert.strictEqual((await service.cli(["partner", "limits", "FIRST", "--read", "0"])).status, 2)
    const listed = await service.done(["partner", "cidrs", "FIRST", "203.0.113.0/24", "2001:db8::1"])
    assert.deepStrictEqual(listed.allowedCidrs, ["203.0.113.0/24", "2001:db8::1"])
    const refused = await service.cli(["partner", "cidrs", "FIRST", "203.0.113.0/24", "10.0.0.1/8", "nonsense"])
    assert.deepStrictEqual(Object.keys(refused.refusal.data.errors), ["cidrs.1", "cidrs.2"])
    assert.deepStrictEqual((await service.done(["partner", "cidrs", "FIRST"])).allowedCidrs, listed.allowedCidrs)
    assert.deepStrictEqual((await service.done(["partner", "cidrs", "FIRST", "--clear"])).allowedCidrs, [])
    assert.strictEqual(await epochOf("FIRST"), before + 3)
  })

  it.each([
    ["203.0.113.7", true],
    ["203.0.113.0/24", true],
    ["0.0.0.0/0", true],
    ["2001:db8::/32", true],
    ["203.0.113.0/33", false],
    ["203.0.113.0/024", false],
    ["203.0.113.1/24", false],
    ["::ffff:203.0.113.0/120", false],
    ["0xcb.0.113.0", false],
    ["203.0.113.005", false],
    ["3405803781", false],
    ["64:ff9b::010.0.0.1", false],
    ["10.1", false],
    ["fe80::1%eth0", false],
    ["203.0.113.0/24/8", false],
    ["", false]
  ])("A1-08: the range %s is accepted: %s", (cidr, fine) => {
    assert.strictEqual(cidrSentence(cidr) === null, fine)
  })

  it("A1-06: a key is shown once; neither lists, audit nor any table hold it", async () => {
    const issued = await service.done(["key", "issue", "FIRST", "--label", "till 1", "--scope", "TRADE"])
    assert.deepStrictEqual(Object.keys(issued), ["keyId", "key", "prefix", "label", "scope"])
    assert.match(issued.key, /^pbk_[A-Za-z0-9_-]{43}$/)
    assert.strictEqual(issued.prefix, issued.key.slice(0, 10))
    const everywhere = [
      await service.done(["key", "list", "FIRST"]),
      await service.done(["audit", "tail"]),
      await service.done(["machine", "inspect", "apiKey", String(issued.keyId)]),
      await rows("SELECT to_jsonb(k) AS row FROM api_keys k"),
      await rows("SELECT to_jsonb(a) AS row FROM audit a")
    ]
    const text = JSON.stringify(everywhere, (_, value) => (typeof value === "bigint" ? String(value) : value))
    assert.notInclude(text, issued.key)
    assert.include(text, hashKey(issued.key))
    assert.strictEqual((await service.call("GET", "/partner/v1/me", { key: issued.key })).status, 200)
    await service.done(["key", "revoke", String(issued.keyId)])
    assert.strictEqual((await service.call("GET", "/partner/v1/me", { key: issued.key })).status, 401)
    assert.strictEqual((await service.cli(["key", "revoke", String(issued.keyId)])).refusal.code, 4092)
  })

  it("D15: a suspended partner can be resumed, a closed one can't, and its keys are revoked", async () => {
    const made = await service.done(creation("GONE"))
    const issued = await service.done(["key", "issue", "GONE", "--label", "l", "--scope", "READ"])
    const move = (status: string) => service.cli(["partner", "status", "GONE", status, "--reason", "test"])
    assert.strictEqual((await move("ACTIVE")).refusal.code, 4092)
    assert.strictEqual((await move("SUSPENDED")).json.status, "SUSPENDED")
    assert.strictEqual((await service.call("GET", "/partner/v1/me", { key: issued.key })).status, 403)
    assert.strictEqual((await move("ACTIVE")).json.status, "ACTIVE")
    assert.strictEqual((await move("CLOSED")).json.status, "CLOSED")
    assert.strictEqual((await service.call("GET", "/partner/v1/me", { key: issued.key })).status, 401)
    assert.strictEqual((await service.done(["key", "list", "GONE"])).keys[0].status, "REVOKED")
    assert.strictEqual((await move("ACTIVE")).refusal.code, 4092)
    assert.strictEqual((await service.cli(["key", "issue", "GONE", "--label", "l", "--scope", "READ"])).status, 1)
    assert.strictEqual((await service.cli(["partner", "limits", "GONE", "--read", "5"])).refusal.code, 4092)
    assert.isAbove(made.partnerId, 0)
  })

  it("operator keys: shown once, revoked at once, the last ADMIN stays", async () => {
    const made = await service.done(["operator", "create", "--label", "night shift", "--role", "ADMIN"])
    assert.match(made.key, /^bok_[A-Za-z0-9_-]{43}$/)
    const { operators } = await service.done(["operator", "list"], "SUPPORT")
    assert.notInclude(JSON.stringify(operators), made.key)
    const asNew = ["--json", "--yes", "--url", service.url, "--ca", service.caFile, "--operator-key", made.key]
    const others = operators.filter(
      (row: { role: string; operatorId: number }) => row.role === "ADMIN" && row.operatorId !== made.operatorId
    )
    for (const { operatorId } of others) {
      assert.strictEqual(
        (await runRecorded(["operator", "revoke", String(operatorId), ...asNew])).json.status,
        "REVOKED"
      )
    }
    assert.strictEqual((await service.cli(["operator", "list"])).refusal.code, 4010)
    const last = await runRecorded(["operator", "revoke", String(made.operatorId), ...asNew])
    assert.deepStrictEqual([last.status, last.refusal.code], [1, 4092])
    assert.strictEqual((await runRecorded(["operator", "list", ...asNew])).status, 0)
  })
})
