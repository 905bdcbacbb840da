/**
 * Measures the time that the simulated venue adds to the start of a sandbox: later starts with it beside starts that
 * name another venue.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Spread, spreadOf } from "../rounds.ts"
import { startService } from "../service.ts"

export interface StartsPlan {
  readonly dataDirectory: string
  readonly rounds: number
  readonly progress: (line: string) => void
}

/** Ms from the start of the process to its first answer. */
export interface StartsFindings {
  readonly withVenue: Spread
  readonly without: Spread
}

/** No server listens at this address: the service starts no venue of its own, and waits for none. */
const nowhere = "http://127.0.0.1:1"

export const measureStarts = async ({ dataDirectory, rounds, progress }: StartsPlan): Promise<StartsFindings> => {
  const made = await startService(dataDirectory)
  await made.stop()
  const keyFile = join(dataDirectory, "nowhere.key")
  writeFileSync(keyFile, "no-key\n", { mode: 0o600 })
  const readyAfter = async (more: ReadonlyArray<string>): Promise<number> => {
    const service = await startService(dataDirectory, "--no-warnings", more)
    await service.stop()
    return service.readyMillis
  }
  const withVenue: Array<number> = []
  const without: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    without.push(await readyAfter(["--venue-url", nowhere, "--venue-key-file", keyFile]))
    withVenue.push(await readyAfter([]))
    progress(`starts: ${withVenue.at(-1)?.toFixed(0)} ms with its venue, ${without.at(-1)?.toFixed(0)} ms without`)
  }
  return { withVenue: spreadOf(withVenue), without: spreadOf(without) }
}
