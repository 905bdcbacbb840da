/**
 * `brokerage tour [STEP]`: plays the stories of the sandbox on a running demo, with requests, answers and webhooks (operator
 * surface, Developers and QA). The steps are loaded only when the command runs.
 */
import { Argument, type Command, InvalidArgumentError } from "commander"
import { closest } from "../../src/machines/shared/closest.ts"
import type { Cli } from "../Cli.ts"
import { type TourStepName, tourStepNames } from "../tour/stepNames.ts"

export const addTourCommand = (program: Command, cli: Cli): void => {
  program
    .command("tour")
    .description("play the demo's stories with their requests, answers and webhooks: one STEP, or all of them in order")
    .addArgument(
      new Argument("[STEP]", "the step to play; a step works in any order, and repeatedly")
        .choices(tourStepNames)
        .argParser(stepNamed)
    )
    .action((step: TourStepName | undefined, _: object, command: Command) =>
      cli.attempt(command, async (globals) => {
        const { playTour } = await import("../tour/playTour.ts")
        await playTour(cli, globals, step === undefined ? tourStepNames : [step])
      })
    )
}

const stepNamed = (given: string): TourStepName => {
  const step = tourStepNames.find((name) => name === given)
  if (step === undefined)
    throw new InvalidArgumentError(`The steps are ${tourStepNames.join(", ")}${closest(given, tourStepNames)}.`)
  return step
}
