/**
 * Durable timers against the turns they race with (architecture, Engine, Timers): a firing that was looked up before its
 * timer was set again must neither fire nor remove the new one.
 */
import { PgConnection } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { ActorHost } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../../src/runtime/engine/clock/BusinessClock.ts"
import { Timers } from "../../../src/runtime/engine/timers/Timers.ts"
import { dayMillis, ofClient, onboard, person, query, rowsOf } from "../../support/Builders.ts"
import { operator, type Service, startService } from "../../support/Service.ts"

const timerName = "identification.expiry"

describe("timers", () => {
  let service: Service
  let clientId: number

  beforeAll(async () => {
    service = await startService()
    const { key } = await service.partner()
    const last = new Date(Date.now() + 3 * dayMillis).toISOString().slice(0, 10)
    const body = person(1, "timer-race", { "kyc.identification.expiration_date": last })
    clientId = (await onboard(service, key, body)).json.data.clientId
  })
  afterAll(() => service.stop())

  it("D3, architecture 4: set again between its look-up and its turn, a timer stays and does not fire", async () => {
    const subject = `client:${clientId}`
    const [timer] = await rowsOf(service, "timers", "subject = $1 AND name = $2", [subject, timerName])
    const later = { subject, name: timerName, dueAt: (timer?.dueAt ?? 0) + 100 * dayMillis }
    // The commit that sets it again waits in the database for a lock that the test holds.
    await query(service, "CREATE TABLE gate (id int)")
    await query(
      service,
      `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         LOCK TABLE gate IN SHARE MODE; RETURN NEW; END $$`
    )
    await query(service, "CREATE TRIGGER wait BEFORE INSERT ON timers FOR EACH ROW EXECUTE FUNCTION wait()")
    const scope = await service.run(Scope.make())
    const holder = await service.run(PgConnection.make({ url: service.database.url }).pipe(Scope.provide(scope)))
    await service.run(Effect.andThen(holder.query("BEGIN"), holder.query("LOCK TABLE gate IN EXCLUSIVE MODE")))
    const host = await service.run(ActorHost)
    const setAgain = service.run(
      host.dispatch({ subject, by: operator.by, decide: (turn) => turn.draft.put("timers", later) })
    )
    await vi.waitFor(async () => {
      const waiting = await query(service, "SELECT 1 FROM pg_locks WHERE relation = 'gate'::regclass AND NOT granted")
      assert.lengthOf(waiting, 1)
    })
    // Now it is due: the worker looks it up as it still stands, and its firing waits for the client's mailbox.
    await service.run(BusinessClock.useSync((clock) => clock.setOffset((timer?.dueAt ?? 0) - Date.now() + dayMillis)))
    await vi.waitFor(() => assert.isAtLeast(host.stats().waiting, 2))
    await service.run(holder.query("COMMIT"))
    await setAgain
    await service.run(host.drain)
    await service.run(Timers.use(({ fireDue }) => fireDue))
    assert.deepStrictEqual(await rowsOf(service, "timers", "subject = $1 AND name = $2", [subject, timerName]), [later])
    const actions = (await ofClient(service, "audit", clientId)).map(({ action }) => action)
    assert.notInclude(actions, "block.expire")
    await service.run(Scope.close(scope, Exit.void))
  })
})
