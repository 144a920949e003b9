// The facts of a call whose words are recognised.

/** A vendor hears one side of the call. */
type RecognitionStartedFact = {
  readonly type: 'recognition-started'
  readonly recogniser: string
  readonly vendor: string
  readonly language: string
  /** 1: this party; 2: the one it talks with. */
  readonly channel: number
  /** The time until the connection was up. */
  readonly after_ms: number
}

/** Words that do not change any more. */
type HeardFact = {
  readonly type: 'heard'
  readonly recogniser: string
  readonly vendor: string
  readonly language: string
  readonly channel: number
  /** Empty while keys are hidden. */
  readonly transcript: string
  readonly confidence: number
  /** Epoch ms, if the vendor says when the words were said. */
  readonly said_at?: number
  readonly duration_ms?: number
  /** The time between the last sound and this result. */
  readonly latency_ms?: number
}

/** The connection to the vendor broke; what was said since the last words is sent again. */
type RecognitionReconnectedFact = {
  readonly type: 'recognition-reconnecting'
  readonly recogniser: string
  readonly vendor: string
  readonly because: string
}

type RecognitionEndedFact = {
  readonly type: 'recognition-ended'
  readonly recogniser: string
  readonly vendor: string
  readonly by: 'closed' | 'failed' | 'lost'
  readonly because: string
  /** The audio that the vendor was sent, and the time for which its sockets were open. */
  readonly audio_ms: number
  readonly socket_ms: number
}

export type RecognitionFact =
  RecognitionStartedFact | HeardFact | RecognitionReconnectedFact | RecognitionEndedFact
