/** What orders hear from the venue, in their client's turn (D6). */
import type { VenueHandler } from "../venue/VenueHandler.ts"

export const orderHandler: VenueHandler = { ended: () => {}, said: () => false, quoted: null }
