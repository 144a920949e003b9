// The server transactions of RFC 3261 §17.2 as tables. A state ignores an input that is missing from it.
import type { Machine } from './machine.ts'

export type ServerState = 'trying' | 'proceeding' | 'accepted' | 'completed' | 'confirmed' | 'terminated'

export type ServerTimer = 'timerG' | 'timerH' | 'timerI' | 'timerJ' | 'timerL' | 'timerAnswer' | 'timerTrying'

export type ServerInput =
  | ServerTimer
  | 'start'
  | 'request'
  | 'ack'
  | 'send1xx'
  | 'send2xx'
  | 'send300-699'
  | 'sendOnce'
  | 'send200-699'
  | 'transportError'

export type ServerAction =
  | 'send'
  | 'resend'
  | 'sendTrying'
  | 'answerTimeout'
  | 'reportTimeout'
  | 'reportTransportError'
  | 'startTimerG'
  | 'doubleTimerG'
  | 'startTimerH'
  | 'startTimerI'
  | 'startTimerJ'
  | 'startTimerL'
  | 'startTimerAnswer'
  | 'startTimerTrying'

export type ServerMachine = Machine<ServerState, ServerInput, ServerAction>

// RFC 3261 §17.2.1 figure 7, as corrected by RFC 6026 §7.1: a 2xx leads to accepted, where retransmitted INVITEs are
// absorbed and the core repeats its 2xx until the ACK. A transport error ends nothing: the request may still be
// repeated. sendOnce is a refusal of a sender that has not proved its address: repeating it would let a forged address
// direct a stream of packets at a third party, and keeping it costs memory (RFC 3261 §26.3.2.4).
export const inviteServer: ServerMachine = {
  trying: {},
  proceeding: {
    start: ['proceeding', 'startTimerAnswer', 'startTimerTrying'],
    request: ['proceeding', 'resend'],
    send1xx: ['proceeding', 'send'],
    timerTrying: ['proceeding', 'sendTrying'],
    send2xx: ['accepted', 'startTimerL', 'send'],
    'send300-699': ['completed', 'startTimerG', 'startTimerH', 'send'],
    sendOnce: ['terminated', 'send'],
    timerAnswer: ['proceeding', 'answerTimeout'],
  },
  accepted: {
    send2xx: ['accepted', 'send'],
    timerL: ['terminated'],
  },
  completed: {
    request: ['completed', 'resend'],
    ack: ['confirmed', 'startTimerI'],
    timerG: ['completed', 'doubleTimerG', 'resend'],
    timerH: ['terminated', 'reportTimeout'],
  },
  confirmed: {
    timerI: ['terminated'],
  },
  terminated: {},
}

// RFC 3261 §17.2.2 figure 8. A core that has not responded after 64*T1 is too late: the client has given up by then,
// and RFC 4320 §4.2 forbids a 408. sendOnce keeps no state here either: a repeated request gets another response, as
// from a stateless server (RFC 3261 §8.2.7).
export const nonInviteServer: ServerMachine = {
  trying: {
    start: ['trying', 'startTimerAnswer'],
    send1xx: ['proceeding', 'send'],
    'send200-699': ['completed', 'send', 'startTimerJ'],
    sendOnce: ['terminated', 'send'],
    timerAnswer: ['terminated', 'reportTimeout'],
  },
  proceeding: {
    request: ['proceeding', 'resend'],
    send1xx: ['proceeding', 'send'],
    'send200-699': ['completed', 'send', 'startTimerJ'],
    timerAnswer: ['terminated', 'reportTimeout'],
    transportError: ['terminated', 'reportTransportError'],
  },
  accepted: {},
  completed: {
    request: ['completed', 'resend'],
    timerJ: ['terminated'],
    transportError: ['terminated', 'reportTransportError'],
  },
  confirmed: {},
  terminated: {},
}
