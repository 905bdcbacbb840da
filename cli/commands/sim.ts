/** `brokerage sim …`: the sandbox's tools (operator surface, Developers and QA). */
import { Argument, type Command } from "commander"
import type { Cli } from "../Cli.ts"
import { durationOption } from "../options.ts"
import { fields } from "../views/View.ts"

export const addSimCommands = (program: Command, cli: Cli): Command => {
  const sim = program.command("sim").description("sandbox tools")
  const clock = sim.command("clock").description("the business clock")
  clock
    .command("show")
    .description("business time and how far it runs ahead")
    .action((_: object, command: Command) => cli.call(command, (api) => api.clock.show(), fields))
  clock
    .command("advance")
    .description("move business time forward; it never goes back")
    .addArgument(new Argument("<duration>", "how far: 90s, 15m, 8h or 2d").argParser(durationOption))
    .action((advanceMillis: number, _: object, command: Command) =>
      cli.call(command, (api) => api.clock.advance({ payload: { advanceMillis } }), fields)
    )
  return sim
}
