// A call that enters a conference: its leg, the application that runs it, and the options of its verb.
import type { RecordingSpan } from '../verb/recording-request.ts'
import type { Application } from '../application/application.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { Leg } from '../leg/leg.ts'
import type { ConferenceWishes } from '../verb/conference-wishes.ts'

export interface Guest {
  readonly leg: Leg
  readonly application: Application
  readonly nested: NestedVerbs
  readonly wishes: ConferenceWishes
  /** The recording of this call, if it is to contain the conference. */
  readonly recording?: RecordingSpan | undefined
}
