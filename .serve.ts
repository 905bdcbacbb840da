import { Effect } from "effect"
import { serve } from "/work/main/src/main.ts"
const dir = process.argv[2]!
const stop = Effect.callback<void>((r) => { process.on("SIGTERM", () => r(Effect.void)) })
Effect.runPromise(serve({ host: "127.0.0.1", port: 0, dataDir: dir, databaseUrl: null, tls: null, sandbox: true, demo: true, json: false, edgeHosts: [], fourEyes: null, killAt: null }, stop) as any).then((e) => { console.log(e); process.exit(0) }, (e) => { console.error(e); process.exit(1) })
