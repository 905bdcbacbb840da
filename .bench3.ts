import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted, References } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { migrate } from "./src/runtime/migrations/migrate.ts"
import { makeSealing } from "./src/runtime/engine/Sealing.ts"
import { layerRuntime } from "./src/runtime/Runtime.ts"
import { defaultSettings } from "./src/runtime/Settings.ts"
import { Directory } from "./src/runtime/services/Directory.ts"
import { Onboarding } from "./src/runtime/services/Onboarding.ts"
import { CollateralReports } from "./src/runtime/services/CollateralReports.ts"
import { sampleOnboarding } from "./src/machines/kyc/sampleOnboarding.ts"
const admin = "postgres://postgres:pw@127.0.0.1:55432/postgres"
const db = "s" + randomBytes(4).toString("hex")
const url = Redacted.make("postgres://postgres:pw@127.0.0.1:55432/" + db)
const sealing = makeSealing({ current: 1, keys: new Map([[1, randomBytes(32)]]) })
const quiet = Layer.succeed(References.MinimumLogLevel, "Error")
await Effect.runPromise(Effect.gen(function* () { const sql = yield* SqlClient.SqlClient; yield* sql.unsafe(`CREATE DATABASE ${db}`) }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(admin) }))))
await Effect.runPromise(Effect.gen(function* () { const sql = yield* SqlClient.SqlClient; yield* migrate
 yield* sql.unsafe(`INSERT INTO partners VALUES (1,'ACTIVE','1','{}','X','n','l','DE','MICA_CASP',true,'PARTNER','EURX','CL',100,100,'[]',0,1)`)
 yield* sql.unsafe(`INSERT INTO reliances VALUES (1,'APPROVED','1','{}')`)
 yield* sql.unsafe(`INSERT INTO api_keys VALUES (1,1,'ACTIVE','1','{}','h','pbk_aaaaaa','demo','TRADE',1)`)
}).pipe(Effect.provide(PgClient.layer({ url })), Effect.provide(quiet)))
const cpuOf = (pid: number) => { const f = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" "); return (Number(f[11]) + Number(f[12])) * 10000 }
const main = Effect.gen(function* () {
  const dir = yield* Directory
  const sql = yield* PgClient.PgClient
  const cred = dir.credential("h")!
  const caller = { partner: cred.partner, key: cred.key, by: { role: "PARTNER", keyLabel: "demo", requestId: "r", actor: "partner:X" } }
  const on = yield* Onboarding, col = yield* CollateralReports
  const ids = yield* Effect.forEach(Array.from({ length: 1000 }, (_, n) => n), (n) => Effect.map(on.onboard(caller, sampleOnboarding(n, "t", Date.now()), () => null), (v: any) => v.value.clientId as number), { concurrency: 64 })
  const pid = Number(((yield* sql.unsafe(`select pid from pg_stat_activity where application_name='brokerage-journal' and datname='${db}'`)) as any)[0].pid)
  let seq = 0
  const one = () => { const n = seq++; return col.report(caller, ids[n % 1000]!, { partnerRef: "r" + n, direction: "DEPOSIT", amount: "0.05" }, (v, t) => ({ partnerId: 1, key: "k" + n, fingerprint: "a".repeat(64), status: 201, body: JSON.stringify({ code: 0, data: v.ok ? v.value.data : null }), answeredAt: t.now })) }
  const run = (total: number) => Effect.forEach(Array.from({ length: total }), one, { concurrency: 64, discard: true })
  yield* run(20000)
  for (let k = 0; k < 3; k++) {
    const cpu0 = process.cpuUsage(), p0 = cpuOf(pid), t1 = performance.now()
    yield* run(30000)
    const dt = performance.now() - t1, cpu = process.cpuUsage(cpu0), p1 = cpuOf(pid)
    console.log(`${(30000 / dt * 1000).toFixed(0)}/s node us ${((cpu.user + cpu.system) / 30000).toFixed(1)} pg us ${((p1 - p0) / 30000).toFixed(1)}`)
  }
})
await Effect.runPromise(main.pipe(Effect.provide(layerRuntime({ databaseUrl: url, sealing, settings: defaultSettings, clockOffset: 0, owner: "x" })), Effect.provide(quiet)))
process.exit(0)
