// The needs of the abilities of verbs.
import type { Recognition } from '../../contracts/recognition.ts'
import type { AudioFetcher, Speech } from '../../contracts/speech.ts'
import type { ApplicationNeeds } from '../application/needs.ts'
import type { BridgeNeeds } from '../bridge/needs.ts'
import type { RoomNeeds } from '../rooms/needs.ts'

export interface AbilityNeeds extends ApplicationNeeds, BridgeNeeds, RoomNeeds {
  readonly speech: Speech
  readonly audio: AudioFetcher
  readonly recognition: Recognition
}
