/**
 * What a tester does to the simulated venue (operator surface, sim venue; C1): a sandbox's alone. A command goes to the venue
 * once and is written down when it is done, or may be done. A dry run looks whether the venue is there and has the market,
 * and sends nothing.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Duration, Effect, Layer } from "effect"
import { fullSymbol } from "../../../../machines/market/fullSymbol.ts"
import { accept, conflict, invalidFields, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { VenueCommand, VenueView } from "../../../../venue/VenueCommand.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import { ActorHost, type DispatchError, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { currentDryRun } from "../../../engine/mailbox/dryRun.ts"
import { type CommandAnswer, VenueControl, VenueControlError } from "../../../ports/VenueControl.ts"
import { Venue } from "../../../ports/Venue.ts"
import { Settings } from "../../../Settings.ts"
import { findClient } from "../../account/findClient.ts"
import { type OperatorCaller, systemInstance, systemSubject } from "../../shared/OperatorCaller.ts"
import { tradedMarkets } from "../../trading/tradedMarkets.ts"
import { openAccount } from "../../venue/openAccount.ts"
import { describeCommand, venueRefusal } from "./venueWords.ts"

/** What `sim clock advance` sends is no command of its own here. */
export type TesterCommand = Exclude<VenueCommand, { readonly type: "advance" | "restart" | "execute" }>

/** An execution by the venue itself, of a client by id or uid (A2-97). */
export interface ExecuteBody extends Omit<Extract<VenueCommand, { readonly type: "execute" }>, "type" | "account"> {
  readonly client: string
}

type Commanded = Effect.Effect<Verdict<CommandAnswer>, DispatchError>

export class SimVenue extends Context.Service<
  SimVenue,
  {
    readonly show: Effect.Effect<Verdict<VenueView>>
    command(caller: OperatorCaller, command: TesterCommand): Commanded
    /** The client's account at the venue is opened first if it has none. */
    execute(caller: OperatorCaller, request: ExecuteBody): Commanded
    /** Ends the venue's process; answers when it is back. */
    restart(caller: OperatorCaller): Commanded
  }
>()("brokerage/runtime/services/operations/system/SimVenue") {
  static readonly layer = Layer.effect(
    SimVenue,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const control = yield* VenueControl
      const venue = yield* Venue
      const wall = yield* Clock.Clock
      const { sandbox } = yield* Settings
      const sql = yield* PgClient.PgClient
      const { connected } = yield* tradedMarkets

      const audit = (caller: OperatorCaller, command: VenueCommand, end = ""): Effect.Effect<void, DispatchError> =>
        host.dispatch({
          subject: systemSubject,
          by: caller.by,
          decide: (turn) =>
            applyEffects(turn, systemInstance, [
              {
                type: "audit",
                action: `venue.${command.type}`,
                before: null,
                after: `${describeCommand(command)}${end}` || null,
                reason: null
              }
            ])
        })

      /** The command's own work, written down: no answer may ask for another try once it may be done. */
      const carryOut = (
        caller: OperatorCaller,
        command: VenueCommand,
        work: Effect.Effect<CommandAnswer, VenueControlError>
      ): Commanded => {
        const noted = (end?: string) => Effect.mapError(audit(caller, command, end), unsure)
        return work.pipe(
          Effect.map(accept),
          Effect.tap(() => noted()),
          Effect.catchTag("VenueControlError", (error) =>
            Effect.as(
              error.why === "lost" ? noted(", no answer") : Effect.void,
              refuse(venueRefusal(error)) as Verdict<CommandAnswer>
            )
          ),
          Effect.uninterruptible
        )
      }

      /** What the command would meet; its audit row is dropped with the dry run. */
      const rehearse = (caller: OperatorCaller, command: VenueCommand): Commanded =>
        control.show.pipe(
          Effect.flatMap((view): Commanded => {
            const fault = symbolFault(command, view)
            if (fault !== null) return Effect.succeed(refuse(invalidFields({ symbol: fault })))
            return Effect.as(audit(caller, command), accept({ number: view.number, at: view.at, id: null }))
          }),
          Effect.catchTag("VenueControlError", (error) => Effect.succeed(refuse(venueRefusal(error))))
        )

      /** The venue trades an account that it has alone: until then nothing was done. */
      const opened = (account: string): Effect.Effect<void, VenueControlError> =>
        openAccount(
          (request) => venue.write("openAccount", request),
          account,
          () => wall.currentTimeMillisUnsafe()
        ).pipe(
          Effect.mapError(({ reason }) => new VenueControlError({ why: "unreached", words: reason })),
          Effect.flatMap(({ outcome, reason }) =>
            outcome === "EXECUTED"
              ? Effect.void
              : Effect.fail(new VenueControlError({ why: "refused", words: reason ?? "it opens no account" }))
          )
        )

      /** Once the venue is straight again it is reached again: what follows meets no connection that is still to come back. */
      const straight = (command: VenueCommand): Effect.Effect<CommandAnswer, VenueControlError> => {
        const reached = Effect.gen(function* () {
          while (!connected()) yield* Effect.sleep(lookEvery)
        })
        const done = control.command(command)
        return command.type === "clear" ? Effect.tap(done, () => Effect.timeoutOption(reached, reachedWithin)) : done
      }

      const inSandbox = (run: () => Commanded): Commanded =>
        sandbox ? Effect.suspend(run) : Effect.succeed(sandboxOnly)

      return SimVenue.of({
        show: sandbox
          ? control.show.pipe(
              Effect.map(accept),
              Effect.catch((error) => Effect.succeed(refuse(venueRefusal(error)) as Verdict<VenueView>))
            )
          : Effect.succeed(sandboxOnly),
        command: (caller, given) => {
          const command = withFullSymbol(given)
          return inSandbox(() =>
            currentDryRun() === null ? carryOut(caller, command, straight(command)) : rehearse(caller, command)
          )
        },
        execute: (caller, { client, ...rest }) =>
          inSandbox(() =>
            Effect.flatMap(findClient(host, sql, client), (named): Commanded => {
              if (!named.ok) return Effect.succeed(named)
              const row = named.value
              const command = withFullSymbol({ type: "execute", account: row.uid, ...rest })
              if (currentDryRun() !== null) return rehearse(caller, command)
              const work = Effect.andThen(opened(row.uid), control.command(command))
              return carryOut(caller, command, work)
            })
          ),
        restart: (caller) =>
          inSandbox(() =>
            currentDryRun() === null ? carryOut(caller, restart, restarted(control)) : rehearse(caller, restart)
          )
      })
    })
  )
}

const withFullSymbol = (command: VenueCommand): VenueCommand =>
  "symbol" in command && command.symbol !== null ? { ...command, symbol: fullSymbol(command.symbol) } : command

const restart = { type: "restart" } as const
const sandboxOnly = refuse(conflict("SANDBOX_ONLY", "The venue can be controlled in a sandbox service only."))

/** The venue has done it: whatever becomes of the audit row, no answer may ask for another try. */
const unsure = (error: DispatchError): DispatchError =>
  error._tag === "Unavailable" ? new Unavailable({ unknown: true }) : error

/** Commands whose symbol may be a staking market's, which has no price and is not shown. */
const staking: ReadonlySet<string> = new Set(["offer", "halt", "resume", "delist"])

/** Why the venue has no such market to do this to; null when it has, or when the command is about none with a price. */
const symbolFault = (command: VenueCommand, { markets }: VenueView): string | null => {
  if (!("symbol" in command) || command.symbol === null || staking.has(command.type)) return null
  return markets.some(({ symbol }) => symbol === command.symbol)
    ? null
    : "The venue has no market of this name with a price."
}

/** How long a restarted venue may take, and the service to be connected again, and between two looks. */
const backWithin = Duration.seconds(30)
const reachedWithin = Duration.seconds(10)
const lookEvery = Duration.millis(50)

/** Ends the process and waits for the one after it: the ending itself may take the answer along. */
const restarted = (control: VenueControl["Service"]): Effect.Effect<CommandAnswer, VenueControlError> =>
  Effect.gen(function* () {
    const { startedAt } = yield* control.show
    yield* Effect.catchIf(
      control.command(restart),
      ({ why }) => why === "lost",
      () => Effect.void
    )
    const look = Effect.catchIf(
      control.show,
      ({ why }) => why !== "foreign",
      () => Effect.succeed(null)
    )
    const back = Effect.gen(function* () {
      for (;;) {
        const view = yield* look
        if (view !== null && view.startedAt !== startedAt) return { number: view.number, at: view.at, id: null }
        yield* Effect.sleep(lookEvery)
      }
    })
    return yield* Effect.timeoutOrElse(back, {
      duration: backWithin,
      orElse: () => Effect.fail(new VenueControlError({ why: "lost", words: "it has not come back within 30 s" }))
    })
  })
