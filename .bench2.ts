import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { Session } from "node:inspector/promises"
import { writeFileSync } from "node:fs"
import { migrate } from "./src/runtime/migrations/migrate.ts"
import { makeSealing } from "./src/runtime/engine/Sealing.ts"
import { layerRuntime } from "./src/runtime/Runtime.ts"
import { defaultSettings } from "./src/runtime/Settings.ts"
import { stampDatabase } from "./src/runtime/store/ServiceStamp.ts"
import { Directory } from "./src/runtime/services/Directory.ts"
import { Onboarding } from "./src/runtime/services/Onboarding.ts"
import { CollateralReports } from "./src/runtime/services/CollateralReports.ts"
import { verifyLedger } from "./src/runtime/ledger/verify.ts"
import { sampleOnboarding } from "./src/machines/kyc/sampleOnboarding.ts"
const admin = "postgres://postgres:pw@127.0.0.1:55432/postgres"
const db = "s" + randomBytes(4).toString("hex")
const url = Redacted.make("postgres://postgres:pw@127.0.0.1:55432/" + db)
const sealing = makeSealing({ current: 1, keys: new Map([[1, randomBytes(32)]]) })
await Effect.runPromise(Effect.gen(function* () { const sql = yield* SqlClient.SqlClient; yield* sql.unsafe(`CREATE DATABASE ${db}`) }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(admin) }))))
await Effect.runPromise(Effect.gen(function* () { const sql = yield* SqlClient.SqlClient; yield* migrate; yield* stampDatabase(true, sealing)
 yield* sql.unsafe(`INSERT INTO partners VALUES (1,'ACTIVE','1','{}','X','n','l','DE','MICA_CASP',true,'PARTNER','EURX','CL',100,100,'[]',0,1)`)
 yield* sql.unsafe(`INSERT INTO reliances VALUES (1,'APPROVED','1','{}')`)
 yield* sql.unsafe(`INSERT INTO api_keys VALUES (1,1,'ACTIVE','1','{}','h','pbk_aaaaaa','demo','TRADE',1)`)
}).pipe(Effect.provide(PgClient.layer({ url }))))
const main = Effect.gen(function* () {
  const dir = yield* Directory
  const cred = dir.credential("h")!
  const caller = { partner: cred.partner, key: cred.key, by: { role: "PARTNER", keyLabel: "demo", requestId: "r", actor: "partner:X" } }
  const on = yield* Onboarding, col = yield* CollateralReports
  const t0 = performance.now()
  const ids = yield* Effect.forEach(Array.from({ length: 1000 }, (_, n) => n), (n) => Effect.map(on.onboard(caller, sampleOnboarding(n, "t", Date.now()), () => null), (v: any) => { if (!v.ok) throw new Error(JSON.stringify(v)); return v.value.clientId as number }), { concurrency: 64 })
  console.log("onboard/s", (1000 / (performance.now() - t0) * 1000).toFixed(0))
  let seq = 0
  const one = () => { const n = seq++; return col.report(caller, ids[n % 1000]!, { partnerRef: "r" + n, direction: "DEPOSIT", amount: "0.5" }, (v, t) => ({ partnerId: 1, key: "k" + n, fingerprint: "a".repeat(64), status: 201, body: JSON.stringify({ code: 0, data: v.ok ? v.value.data : null }), answeredAt: t.now })) }
  const run = (total: number) => Effect.forEach(Array.from({ length: total }), one, { concurrency: 64, discard: true })
  yield* run(5000)
  const session = new Session(); session.connect(); yield* Effect.promise(() => session.post("Profiler.enable")); yield* Effect.promise(() => session.post("Profiler.start"))
  const cpu0 = process.cpuUsage(); const t1 = performance.now()
  yield* run(30000)
  const dt = performance.now() - t1, cpu = process.cpuUsage(cpu0)
  const prof: any = yield* Effect.promise(() => session.post("Profiler.stop"))
  console.log(`collateral ${(30000 / dt * 1000).toFixed(0)}/s cpu us ${((cpu.user + cpu.system) / 30000).toFixed(1)}`)
  const self = new Map<string, number>(); const byId = new Map(prof.profile.nodes.map((n: any) => [n.id, n]));
  prof.profile.samples.forEach((id: number, i: number) => { const n: any = byId.get(id); const k = n.callFrame.functionName + " " + n.callFrame.url.split("/").slice(-2).join("/") + ":" + n.callFrame.lineNumber; self.set(k, (self.get(k) ?? 0) + prof.profile.timeDeltas[i]) })
  for (const [k, v] of [...self].sort((a, b) => b[1] - a[1]).slice(0, 40)) console.log((v / 30000).toFixed(2), k)
  console.log((yield* verifyLedger).ok)
})
await Effect.runPromise(main.pipe(Effect.provide(layerRuntime({ databaseUrl: url, sealing, settings: defaultSettings, clockOffset: 0, owner: "x" }))))
process.exit(0)
