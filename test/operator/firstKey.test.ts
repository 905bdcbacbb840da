/**
 * The first ADMIN key: in the file before its hash is committed, so that no crash loses it (operator surface, rules:
 * operator.key).
 */
import { afterAll, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readIfThere, removeFile } from "../../src/runtime/adapters/dataDirectory.ts"
import { writeWhole } from "../../src/runtime/adapters/writeWhole.ts"
import { ActorHost, Unavailable } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { Directory } from "../../src/runtime/services/partners/Directory.ts"
import { OperatorKeys } from "../../src/runtime/services/operations/operator/OperatorKeys.ts"
import { hashKey } from "../../src/runtime/services/shared/Secret.ts"
import { operator, type Service, startService } from "../support/Service.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-first-key-"))
const path = join(folder, "operator.key")
const file = { read: () => readIfThere(path), write: (key: string) => writeWhole(path, `${key}\n`) }
const kept = (): string => readFileSync(path, "utf8").trim()

let service: Service
beforeEach(async () => {
  service = await startService()
  removeFile(path)
  return () => service.stop()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** One start. `dies`: the process dies between the file and the commit of the hash. */
const start = (dies = false) =>
  service.run(
    Effect.gen(function* () {
      const host = yield* ActorHost
      const failing = ActorHost.of({ ...host, dispatch: () => Effect.fail(new Unavailable({ unknown: false })) })
      const ensure = Effect.flatMap(OperatorKeys, (keys) => keys.ensureFirst(file)).pipe(
        Effect.provide(Layer.fresh(OperatorKeys.layer)),
        Effect.provideService(ActorHost, dies ? failing : host)
      )
      return yield* Effect.catch(ensure, ({ _tag }) => Effect.succeed(_tag))
    })
  )

const live = (key: string) => service.run(Effect.map(Directory, (directory) => directory.operatorKey(hashKey(key))))

describe("operator surface, operator.key", () => {
  it("a start that dies before the commit leaves the key in the file, and the next start makes that key live", async () => {
    assert.strictEqual(await start(true), "Unavailable")
    const key = kept()
    assert.match(key, /^bok_[A-Za-z0-9_-]{43}$/)
    assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    assert.isNull(await live(key))
    assert.strictEqual(await start(), "made")
    assert.strictEqual(kept(), key)
    assert.strictEqual((await live(key))?.role, "ADMIN")
    assert.strictEqual(await start(), "kept")
    assert.strictEqual(kept(), key)
  })

  it("a file that holds no key is replaced", async () => {
    writeWhole(path, "bok_short\n")
    assert.strictEqual(await start(), "made")
    assert.strictEqual((await live(kept()))?.role, "ADMIN")
  })

  it("a key that another owner has does not become the ADMIN's", async () => {
    const support = await service.run(
      Effect.flatMap(OperatorKeys, (keys) => keys.create(operator, { label: "help", role: "SUPPORT" })).pipe(
        Effect.provide(OperatorKeys.layer)
      )
    )
    writeWhole(path, `${support.key}\n`)
    assert.strictEqual(await start(), "made")
    assert.notStrictEqual(kept(), support.key)
    assert.strictEqual((await live(kept()))?.role, "ADMIN")
    assert.strictEqual((await live(support.key))?.role, "SUPPORT")
  })

  it("a missing file is reported, not replaced, while live ADMIN keys exist", async () => {
    assert.strictEqual(await start(), "made")
    const key = kept()
    removeFile(path)
    assert.strictEqual(await start(), "missing")
    assert.isNull(file.read())
    assert.isNotNull(await live(key))
  })
})
