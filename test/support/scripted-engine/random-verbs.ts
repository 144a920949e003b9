// Verbs and commands of a random history, as the seed determines: answers of applications and requests of clients.
import type { AskedCommands } from '../../../src/calls/script/command.ts'

export type Random = (below: number) => number

const targets = [
  { type: 'user', name: 'alice' },
  { type: 'sip', sipUri: 'sip:bob@192.0.2.9' },
  { type: 'sip', sipUri: 'sip:carol@192.0.2.8' },
  { type: 'phone', number: '+4930123' },
  { type: 'user', name: 'nobody' },
]

const pause = { verb: 'pause', length: 2 }
const file = { verb: 'play', url: 'http://app.test/after.wav' }

function someDial(random: Random): object {
  const chance = (below: number, options: object): object => (random(below) === 0 ? options : {})
  const first = random(targets.length)
  const target = Array.from({ length: 1 + random(3) }, (_, n) => ({
    ...targets[(first + n) % targets.length],
    ...chance(6, { confirmHook: '/confirm-held' }),
  }))
  return {
    verb: 'dial',
    target,
    ...chance(2, { actionHook: '/dialled' }),
    ...chance(2, { answerOnBridge: true }),
    ...chance(2, { exitMediaPath: true }),
    ...chance(9, { anchorMedia: true }),
    ...chance(3, { confirmHook: '/confirm' }),
    ...chance(4, { dialMusic: '/music.wav' }),
    ...chance(4, { timeLimit: 1 }),
    ...chance(4, { timeout: 1 }),
    ...chance(3, { onHoldHook: '/hold' }),
    ...chance(3, { dtmfCapture: ['1', '12'], dtmfHook: '/keys' }),
  }
}

export function someVerbs(random: Random): object[] {
  const lists = [
    () => [someDial(random), file],
    () => [someDial(random), someDial(random)],
    () => [someDial(random), { verb: 'hangup' }],
    () => [someDial(random)],
    () => [{ verb: 'config', onHoldMusic: '/music.wav' }, someDial(random), pause],
    () => [waiting, someDial(random), gather],
    () => [someDial(random), pause, someDial(random)],
    () => [file, someDial(random), pause],
    () => [pause],
    () => [{ verb: 'hangup' }],
  ]
  return lists[random(lists.length)]?.() ?? []
}

export const confirms = [
  [],
  [pause],
  [{ verb: 'say', text: 'press a key' }],
  [{ verb: 'gather', numDigits: 1, timeout: 1 }],
  [{ verb: 'pause', length: 3600 }],
  'no verbs',
]

const gather = { verb: 'gather', timeout: 1, actionHook: '/dialled' }
const waiting = {
  verb: 'config',
  fillerNoise: { enable: true, url: '/filler.wav', startDelaySecs: 1 },
  actionHookDelayAction: {
    noResponseTimeout: 1,
    noResponseGiveUpTimeout: 3,
    actions: [{ verb: 'say', text: 'one moment' }],
    giveUpActions: [pause],
  },
}

export const holds = [
  [],
  [file],
  [{ verb: 'say', text: 'one moment' }, pause],
  [{ verb: 'gather' }],
  'no verbs',
]

const whispers = [
  { verb: 'say', text: 'listen' },
  [file, pause],
  { verb: 'pause', length: 3600 },
  [{ verb: 'say' }],
]

const hookAt = (path: string) =>
  ({ url: `http://app.test${path}`, method: 'POST', username: null, password: null }) as const

export function someCommand(random: Random): AskedCommands {
  const commands: AskedCommands[] = [
    { call_hook: hookAt('/redirected') },
    { call_hook: hookAt('/redirected-held') },
    { call_status: random(2) === 0 ? 'completed' : 'no-answer' },
    { tag: { some: 'tag' } },
    { mute_status: random(2) === 0 ? 'mute' : 'unmute' },
    { dtmf: { digit: '12', duration: 100 } },
    { whisper: whispers[random(whispers.length)] },
    { boostAudioSignal: random(7) - 3 },
    { dub: { action: 'addTrack', track: 'a', play: '/a.wav' } },
    { media_path: random(2) === 0 ? 'no-media' : 'full-media' },
    { sip_request: { method: 'INFO', content_type: 'text/plain', content: 'x' } },
    { whisper: whispers[random(whispers.length)], mute_status: 'mute' },
    { child_call_hook: hookAt('/redirected') },
    { child_call_hook: hookAt('/redirected-held'), call_hook: hookAt('/redirected') },
  ]
  return commands[random(commands.length)] ?? {}
}
