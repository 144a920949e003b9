// docs/reference/audio-streams.md, from scripts/reference/stream-frames.ts.
import { page } from './page.ts'
import { heardStreamFrames, sentStreamFrames, type StreamFrame } from './stream-frames.ts'

export function audioStreamsPage(): string {
  const section = ({ name, meaning, example }: StreamFrame): string[] => [
    `### ${name}`,
    '',
    meaning,
    '',
    '```json',
    JSON.stringify(example, null, 2),
    '```',
    '',
  ]
  return page('Audio servers', '`scripts/reference/stream-frames.ts`', [
    ...beginning,
    '',
    '## From the platform',
    '',
    ...Object.values(sentStreamFrames).flatMap(section),
    '### Sound',
    '',
    'Binary frames of about 20 ms: signed samples of 16 bit, little endian, at `sampleRate`. `mono` is what the party of the call says,',
    '`mixed` both sides in one channel; `stereo` has two channels whose samples take turns, what the party says first. While the',
    'stream is paused there are none; while it is silenced they are zeros.',
    '',
    'The band is that of the codec which the leg that is listened to has at the moment: with a `sampleRate` of 16000 and more, up to 7 kHz',
    'of Opus and G.722, and up to 3.5 kHz of G.711; below 16000, up to 3.5 kHz of any. `mixed` and `stereo` have what the leg hears in that band',
    'too.',
    '',
    '## To the platform',
    '',
    ...Object.values(heardStreamFrames).flatMap(section),
    '### Sound of yours',
    '',
    'With `bidirectionalAudio.streaming`: binary frames of such samples, one channel, at `bidirectionalAudio.sampleRate`. They are heard as',
    'they arrive, cut anywhere. A leg of Opus or G.722 hears sound of 16000 Hz and more, streamed or as a clip, up to 7 kHz. Texts of type `transcription` and `json` are accepted, and have no effect.',
    '',
    ...limits,
  ])
}

const beginning = [
  'An audio server is the server that `url` of the verb `listen` names (also `stream`, and `listen` of `config`, `dial` and `conference`). The platform',
  'opens a WebSocket to it: one for each stream.',
  '',
  '- The handshake asks for the subprotocols `audio.drachtio.org` and `audio.jambonz.org`; one that picks none is accepted. It carries',
  '  `wsAuth` as Basic authentication, may take 5 s and be redirected twice. Addresses are refused as for hooks.',
  '- The stream ends when you close the socket, by `disconnect`, `finishOnKey` and `maxLength`, and with the call.',
  '- The `actionHook` of `listen` may be asked before the socket is closed with 1000: wait for the close before you use what you stored.',
]

const limits = [
  '## Limits',
  '',
  '- A message may have 4 MiB, in 1024 fragments; a text 64 KiB beside its `audioContent`. A longer message breaks the socket.',
  '- 4 MiB are read immediately, then 512 KiB a second; each message counts 512 bytes beside its own. Further data wait in the network.',
  '- 120 s of streamed sound may wait; then nothing is read until some of it is heard.',
  '- More than 20000 texts without sound, pings, or pieces of sound below 32 bytes, faster than they are read, close the socket with 1008:',
  '  the journal and an alert say so.',
  '- Sound that waits for you longer than a second is dropped, and the journal says how much. Texts of the platform are then dropped too.',
  '- A message that makes no sense is noted in the journal once, and ignored.',
]
