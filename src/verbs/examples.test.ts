// The example of each verb in the reference, as the answer of a call hook: it works, without a note in the journal.
import { describe, expect, it } from 'vitest'
import {
  account,
  application,
  outboundCarrier,
  phone,
} from '../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import { offer, sipRequest } from '../../test/support/scripted-engine/scripted-messages.ts'
import type { ScriptedInvite, ScriptedOutgoing } from '../../test/support/scripted-engine/scripted-sip.ts'
import type { JournalEvent } from '../calls/journal/journal.ts'
import { parseVerbs, verbs } from './index.ts'
import type { Verb } from './define/define-verb.ts'

/** Far longer than any example takes. */
const maxSeconds = 120

/** The verbs of a second call that some examples need. */
const others: Readonly<Record<string, readonly object[]>> = {
  enqueue: [{ verb: 'dequeue', name: 'support' }],
  dequeue: [{ verb: 'enqueue', name: 'support' }],
}

/** The verbs of the call hook for examples that are the answer of another hook. */
const around: Readonly<Record<string, readonly object[]>> = {
  leave: [{ verb: 'enqueue', name: 'support', waitHook: '/example' }],
}

/** Reports whether an INVITE goes to a recording server. Those answer at once, and accept two streams. */
function isRecording({ options }: ScriptedOutgoing): boolean {
  return options.headers?.some(({ value }) => value === 'siprec') === true
}

/** Returns the journal of the call that got the example. Its far ends answer, and hang up after some seconds. */
async function run({ name, example }: Verb): Promise<readonly JournalEvent[]> {
  const engine = createScriptedEngine(parseVerbs)
  engine.application = { ...application, speech_recognizer_vendor: 'deepgram' }
  engine.phones.set('alice@example.com', [phone])
  engine.waysOut = [outboundCarrier('c1')]
  engine.hooks.on('/call', around[name] ?? example)
  engine.hooks.on('/example', example)
  engine.ring()
  let other: ScriptedInvite | undefined
  for (let second = 0; second < maxSeconds; second += 1) {
    for (let turn = 0; turn < 6; turn += 1) await settle()
    if (second === 2 && others[name] !== undefined) {
      engine.hooks.on('/call', others[name])
      other = engine.ring()
    }
    if (second === 6) other?.dialog?.hangUp()
    for (const invite of engine.sent.filter(isRecording)) invite.answer(`${offer}m=audio 26002 RTP/AVP 0\r\n`)
    const called = engine.sent.filter((invite) => !isRecording(invite)).at(-1)
    if (second === 2) called?.answer()
    if (second === 6) for (const stream of engine.streams.all) stream.end()
    if (second === 6) for (const ear of engine.recognition.all) ear.end({ by: 'closed' })
    if (second === 6) called?.dialog.listener.ended(sipRequest('BYE'))
    if (second === 4) engine.media.sessions[0]?.press('1')
    if (second === 8) await leaveConference(engine)
    engine.clock.advance(1000)
  }
  const [started] = engine.store.batches
  return engine.store.journalOf(started?.call_sid ?? '')
}

/** Lets the call leave its conference through the API, if it is in one. */
async function leaveConference({ calls }: ScriptedEngine): Promise<void> {
  for (const { participants } of calls.conferences(account.account_sid))
    for (const { call_sid } of participants)
      await calls.command(account.account_sid, call_sid, { conferenceParticipantAction: { action: 'kick' } })
}

describe('the example of the reference', () => {
  it.each(verbs.map((verb) => [verb.name, verb] as const))('runs: %s', async (name, verb) => {
    expect(verb.example.map((use) => use.verb)).toContain(name)
    const journal = await run(verb)
    expect(journal.filter(({ type }) => type === 'problem' || type === 'note')).toEqual([])
    const ended = journal.flatMap((event) => (event.type === 'verb-ended' ? [event] : []))
    expect(ended.find((event) => event.verb === name)).toMatchObject({ outcome: 'done' })
  })
})
