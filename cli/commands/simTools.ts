/** All commands of `brokerage sim …`. */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { addSimAnswersCommand } from "./appropriateness.ts"
import { addSimCommands } from "./sim.ts"
import { addSimNamesCommand } from "./simNames.ts"
import { addSimPartnerCommands } from "./simPartner.ts"
import { addSimResetCommand } from "./simReset.ts"
import { addSimRunCommands } from "./simRun.ts"
import { addSimVenueCommands } from "./simVenue.ts"
import { addSimVenueServeCommand } from "./simVenueServe.ts"
import { addSimVerifyCommand } from "./simVerify.ts"

export const addSimToolCommands = (program: Command, cli: Cli, whole: () => Promise<Command>): void => {
  const sim = addSimCommands(program, cli)
  addSimResetCommand(sim, cli)
  addSimAnswersCommand(sim, cli)
  addSimNamesCommand(sim, cli)
  addSimPartnerCommands(sim, cli)
  addSimVenueCommands(sim, cli)
  addSimVenueServeCommand(sim, cli)
  addSimRunCommands(sim, cli, whole)
  addSimVerifyCommand(sim, cli)
}
