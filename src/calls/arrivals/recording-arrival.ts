// An incoming recording session (RFC 7866 §8): the platform is its recording server, and an application listens to it.
import { AppError } from '../../lib/errors.ts'
import type { IncomingInvite } from '../../sip/sip.ts'
import { partiesSentence, recordedParties, type RecordedParties } from '../parties/recorded-parties.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import type { OwnedIdentity } from '../inbound/identity.ts'
import type { Asked } from '../parties/asked.ts'

/** The verbs of an application for a call that it only listens to. */
export const recordingVerbs: ReadonlySet<string> = new Set([
  'answer',
  'config',
  'gather',
  'transcribe',
  'listen',
  'tag',
  'hangup',
  'sip:decline',
])

/** Returns undefined for an ordinary call. */
export function recordingArrival(
  identity: OwnedIdentity,
  invite: Pick<IncomingInvite, 'request' | 'tagContact'>,
): RecordedParties | undefined {
  if (identity.kind !== 'known' || identity.origin.kind !== 'carrier' || !identity.origin.isRecording)
    return undefined
  invite.tagContact('+sip.srs')
  return recordedParties(invite.request)
}

/**
 * Throws AppError if a caller other than a carrier wants to be recorded: recording clients are identified by their
 * address only.
 */
export function refuseStrayRecording(
  { demandsRecording }: Pick<Asked, 'demandsRecording'>,
  recording: RecordedParties | undefined,
): void {
  if (recording === undefined && demandsRecording)
    throw new AppError('no_siprec_application', 'recording sessions are taken from carriers alone')
}

/** Journals whom a session records. Metadata that cannot be read raises an alert. */
export function noteRecording(recorded: RecordedParties, leg: Leg): void {
  leg.journal.note({ type: 'note', sentence: partiesSentence(recorded) })
  if (recorded.unread !== undefined) noteProblem(leg, recorded.unread)
}
