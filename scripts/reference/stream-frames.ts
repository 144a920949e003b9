// The protocol between the platform and an audio server, for the reference. Tests send and receive these examples.

export interface StreamFrame {
  readonly name: string
  readonly meaning: string
  readonly example: Readonly<Record<string, unknown>>
}

/** Frames from the platform. */
export const sentStreamFrames = {
  hello: {
    name: 'The first frame',
    meaning:
      'A text: the facts of the call that a hook carries, with names in camelCase, then `sampleRate`, `mixType` and each member of `metadata`, which replaces others of its name.',
    example: {
      callSid: '3a3a8a3c-3b1f-4a7e-9a51-2f0f4c1d0b11',
      accountSid: '5c0f2a52-6f0a-4f4e-8a55-0c6f3c1c7a10',
      applicationSid: '8f9d7e0e-5a70-4b3f-8f0e-0f6f6e0a1b22',
      direction: 'inbound',
      from: '15550100',
      to: '15550199',
      callId: 'f81d4fae7dec11d0a76500a0c91e6bf6',
      sbcCallid: 'f81d4fae7dec11d0a76500a0c91e6bf6',
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      callStatus: 'in-progress',
      sipStatus: 200,
      sipReason: 'OK',
      originatingSipIp: '192.0.2.1',
      callerId: '15550100',
      fsSipAddress: '192.0.2.10:5060',
      sampleRate: 8000,
      mixType: 'mono',
    },
  },
  dtmf: {
    name: 'dtmf',
    meaning: 'With `passDtmf`: a key was pressed. `duration` is a text, in units of 1/8000 s, as in RTP.',
    example: { event: 'dtmf', dtmf: '2', duration: '1600' },
  },
  playDone: {
    name: 'playDone',
    meaning:
      'A clip is over, or was ended, with the time of it that was heard. `id` is present if the clip had one.',
    example: { type: 'playDone', data: { id: 'hello', playbackSeconds: 0, playbackMilliseconds: 1 } },
  },
  mark: {
    name: 'mark',
    meaning:
      '`playout`: everything that you sent before the mark was heard. `cleared`: by `clearMarks`, `killAudio`, or a clip that is not queued.',
    example: { type: 'mark', data: { name: 'end of greeting', event: 'playout' } },
  },
} as const satisfies Record<string, StreamFrame>

/** Frames from the audio server. */
export const heardStreamFrames = {
  playAudio: {
    name: 'playAudio',
    meaning:
      'Plays a clip. `audioContent` is base64: with `audioContentType` `raw` (default) signed samples of 16 bit, little endian, at `sampleRate` (8000 to 64000, default 8000); with `wav` or `wave` a file of one channel with 16 bit samples. It ends the sound that is heard; with `queuePlay` it waits for its end. Ten clips may wait.',
    example: {
      type: 'playAudio',
      data: {
        audioContent: 'AAAAAAAAAAAAAAAAAAAAAA==',
        audioContentType: 'raw',
        sampleRate: 8000,
        id: 'hello',
        queuePlay: true,
      },
    },
  },
  mark: {
    name: 'mark',
    meaning:
      'Marks this point: the mark is sent back once everything before it was heard. A hundred marks may wait.',
    example: { type: 'mark', data: { name: 'end of greeting' } },
  },
  clearMarks: {
    name: 'clearMarks',
    meaning: 'Removes all marks that wait; the sound continues.',
    example: { type: 'clearMarks' },
  },
  killAudio: {
    name: 'killAudio',
    meaning: 'Nothing that waits is heard, clip or stream.',
    example: { type: 'killAudio' },
  },
  disconnect: {
    name: 'disconnect',
    meaning: 'Ends the stream, and with it the verb `listen`; the socket is closed with 1000.',
    example: { type: 'disconnect' },
  },
} as const satisfies Record<string, StreamFrame>
