// The story of a call, from the journals that the engine writes: for either side, a person reads who did what.
import { expect, it } from 'vitest'
import { parseVerbs } from '../../src/verbs/index.ts'
import { account } from '../../test/support/scripted-engine/scripted-facts.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import { answered, bye, dialled, type Dialled } from '../../test/support/scripted-engine/dialling.ts'
import { ScriptedReferral } from '../../test/support/scripted-engine/scripted-referral.ts'
import { journalStory } from './journal-story.ts'

const alice = 'alice@example.com'
const caller = '+4420'

const sides = ['inbound', 'outbound'] as const

async function calm(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await settle()
}

async function talking(): Promise<Dialled> {
  const one = await dialled(parseVerbs, {})
  await answered(one.called())
  return one
}

/** Returns the sentences without their times. */
const storyOf = ({ engine, sidOf }: Dialled, side: (typeof sides)[number]): string[] =>
  journalStory(engine.store.journalOf(sidOf(side))).map((line) => line.replace(/^ *[\d.]+ s {2}/, ''))

it('names who talks, who is muted and who is whispered to, from either side', async () => {
  const one = await talking()
  for (const asked of [{ mute_status: 'mute' }, { whisper: { verb: 'pause', length: 1 } }]) {
    await one.engine.calls.command(account.account_sid, one.sidOf('outbound'), asked)
    await calm()
  }
  for (const side of sides)
    expect(storyOf(one, side)).toEqual(
      expect.arrayContaining([
        side === 'inbound' ? `${caller} and ${alice} talk` : `${alice} and ${caller} talk`,
        `${alice} is muted: the other one does not hear it`,
        `${alice} is whispered to: the other one does not hear that`,
      ]),
    )
  expect(storyOf(one, 'outbound')).toContain('a client of the REST API asks for mute')
})

it('says what became of a recording, of an audio server and of a gateway', () => {
  const silent = { trunk: 'acme', place: '192.0.2.7', post_dial_delay_ms: 2000 }
  const facts = [
    { type: 'started', direction: 'inbound', from: 'alice', to: '500' },
    { type: 'recording-started' },
    { type: 'recording-paused' },
    { type: 'recording-resumed' },
    { type: 'stream-opened', url: 'ws://a.example/audio' },
    { type: 'stream-mode', mode: 'silent' },
    { type: 'stream-recovered', lost_frames: 75 },
    { type: 'stream-ended', because: 'the server closed it' },
    { type: 'recording-gap', missing_ms: 40 },
    { type: 'recording-ended', duration_ms: 2340, because: 'the disk is full' },
    { type: 'recording-stored', place: 'disk' },
    { type: 'attempt-ended', ...silent, sip_gateway_sid: 'g', outcome: 'silent', cause: 'no response' },
    { type: 'attempt-ended', ...silent, outcome: 'answered', cause: '200 OK' },
    { type: 'attempt-ended', ...silent, outcome: 'unreachable', cause: 'no route' },
    { type: 'identity-checked', verstat: 'TN-Validation-Passed', attest: 'A', origid: 'o' },
    {
      type: 'identity-checked',
      verstat: 'No-TN-Validation',
      code: 'no_trust_list',
      reason: 'there is no list',
    },
  ]
  const story = journalStory(facts.map((fact, index) => ({ at: index * 10, ...fact })))
  expect(story.map((line) => line.replace(/^ *[\d.]+ s {2}/, ''))).toEqual([
    'a call from alice to 500',
    'the platform records the call',
    'the recording pauses: it goes on in silence',
    'the recording goes on with sound',
    'the audio server ws://a.example/audio hears the call',
    'the audio server gets silence',
    'the audio server keeps up again, and has lost 1.5 s',
    'the audio server hears the call no more: the server closed it',
    '0.0 s of the recording are missing',
    '2.3 s are recorded: the disk is full',
    'the recording is stored on the disk of the platform',
    'gateway 192.0.2.7 of acme: silent, no response, after 2.0 s',
    '192.0.2.7: unreachable, no route, after 2.0 s',
    'the calling number is proven, with attestation A',
    'the calling number is not proven: there is no list (no_trust_list)',
  ])
})

it('names who hung up, from either side', async () => {
  const one = await talking()
  await bye(one.called().dialog)
  await bye(one.caller.dialog)
  for (const side of sides)
    expect(storyOf(one, side)).toContain(`the two part: the called party ${alice} hung up`)
  expect(storyOf(one, 'outbound')).toContain(`the end: ${alice} hung up`)
  expect(storyOf(one, 'inbound')).toContain(`the end: ${caller} hung up`)
})

it('names who asked for a transfer and shows its refusal once, with the cure, from either side', async () => {
  const one = await talking()
  const referTo = 'sip:alice@elsewhere.example'
  one.called().dialog.listener.referred?.(new ScriptedReferral({ referTo }))
  await calm()
  for (const side of sides) {
    const story = storyOf(one, side)
    expect(story).toContain(`${alice} asks that the other one be sent to ${referTo}`)
    expect(story.filter((line) => line.includes('realm only'))).toEqual([
      `the transfer by ${alice} to ${referTo} fails with 403: a user may send the other side to users of its realm only. ` +
        'Give the dial a referHook: then the application decides where a call may be sent. (not_permitted)',
    ])
  }
})

it('separates a sentence from its cure by one full stop, and shows an error of one moment once', () => {
  const error = { code: 'hook_invalid_payload', sentence: 'the answer is no list.', cure: 'Answer with one.' }
  const line = 'the answer is no list. Answer with one. (hook_invalid_payload)'
  const started = { at: 0, type: 'started', direction: 'inbound', from: 'a', to: 'b' }
  const failed = { at: 10, type: 'hook-failed', ...error }
  const problem = { at: 11, type: 'problem', ...error }
  const later = { ...failed, at: 5_000 }
  expect(journalStory([started, failed, problem, later]).slice(1)).toEqual([
    `   0.01 s  ${line}`,
    `   5.00 s  ${line}`,
  ])
})

it('names the hook that fails and its URL, and says that one has answered without verbs', () => {
  const events = [
    { at: 0, type: 'started', direction: 'inbound', from: 'a', to: 'b' },
    { at: 10, type: 'hook-answered', hook: 'call', duration_ms: 3, verbs: [] },
    {
      at: 20,
      type: 'hook-failed',
      hook: 'wait',
      url: 'http://app.test/w',
      sentence: 'the hook answered with status 404',
    },
  ]
  expect(journalStory(events).slice(1)).toEqual([
    '   0.01 s  the call hook answered in 3 ms, without verbs',
    '   0.02 s  wait hook http://app.test/w: the hook answered with status 404',
  ])
})

it('shows ringing once, though the status hook reports a ringing call from its beginning', () => {
  const status = (at: number, call_status: string, sip_status: number) => ({
    at,
    type: 'status',
    call_status,
    sip_status,
  })
  const events = [
    { at: 0, type: 'started', direction: 'inbound', from: 'a', to: 'b' },
    { at: 500, type: 'rang' },
    status(900, 'trying', 100),
    status(900, 'ringing', 180),
    status(1000, 'in-progress', 200),
  ]
  expect(journalStory(events).slice(1)).toEqual([
    '   0.50 s  the caller hears ringing (SIP 180)',
    '   1.00 s  status in-progress (SIP 200)',
  ])
})

it('names who holds, and what the other one hears meanwhile', () => {
  const events = [
    { at: 0, type: 'started', direction: 'inbound', from: 'alice', to: 'bob' },
    { at: 10, type: 'held', call_sid: 'b', party: 'bob' },
    { at: 20, type: 'hold-sound', call_sid: 'a', party: 'alice', source: 'onHoldMusic' },
    { at: 30, type: 'resumed', call_sid: 'b', party: 'bob' },
  ]
  expect(journalStory(events).slice(1)).toEqual([
    '   0.01 s  bob puts the other one on hold',
    '   0.02 s  on hold alice hears onHoldMusic',
    '   0.03 s  bob hears the other one again',
  ])
})
