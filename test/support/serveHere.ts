/** `brokerage serve` in the test's own process, for starts that fail: a process of its own takes a second to load the service. */
import { Cause, Effect, Exit } from "effect"
import { cliFailure, exitStatus } from "../../cli/CliIo.ts"
import { serve } from "../../src/main.ts"
import { type Ran, runRecorded } from "../operator/operatorHarness.ts"

/** As cli/main.ts does in a process; what is printed beside the command line's own words fails the test (silence.ts). */
export const serveHere = (line: ReadonlyArray<string>): Promise<Ran> =>
  runRecorded(line, {
    serve: async (options) => {
      const exit = await Effect.runPromiseExit(serve(options, Effect.void))
      if (Exit.isSuccess(exit)) return exitStatus.done
      throw cliFailure(exitStatus.refused, 5030, (Cause.squash(exit.cause) as Error).message)
    }
  })
