// One who enters a conference: a leg, the application that runs it, and what its verb says.
import type { RecordingSpan } from '../abilities/recording-request.ts'
import type { Application } from '../application/application.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { Leg } from '../leg/leg.ts'
import type { ConferenceWishes } from './conference-wishes.ts'

export interface Guest {
  readonly leg: Leg
  readonly application: Application
  readonly nested: NestedVerbs
  readonly wishes: ConferenceWishes
  /** Its recording, which is to have the conference in it. */
  readonly recording?: RecordingSpan
}
