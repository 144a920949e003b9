// The client transactions of RFC 3261 §17.1 as tables. A state ignores an input that is missing from it.
import type { Machine } from './machine.ts'

export type ClientState = 'calling' | 'trying' | 'proceeding' | 'accepted' | 'completed' | 'terminated'

export type ClientTimer =
  | 'timerA'
  | 'timerB'
  | 'timerC'
  | 'timerD'
  | 'timerE'
  | 'timerF'
  | 'timerK'
  | 'timerM'
  | 'timerCancel'
  | 'timerLost'

export type ClientInput =
  | ClientTimer
  | 'start'
  | '100'
  | '1xx'
  | '2xx'
  | '300-699'
  | '200-699'
  | 'cancel'
  | 'connectionLost'
  | 'transportError'

export type ClientAction =
  | 'send'
  | 'passUp'
  | 'sendAck'
  | 'sendCancel'
  | 'noteCancel'
  | 'sendNotedCancel'
  | 'reportTimeout'
  | 'reportTransportError'
  | 'startTimerA'
  | 'doubleTimerA'
  | 'startTimerB'
  | 'startTimerC'
  | 'startTimerD'
  | 'startTimerE'
  | 'doubleTimerE'
  | 'startTimerEAtT2'
  | 'startTimerF'
  | 'startTimerK'
  | 'startTimerM'
  | 'startTimerCancel'
  | 'startTimerLost'

export type ClientMachine = Machine<ClientState, ClientInput, ClientAction>

// RFC 3261 §17.1.1.2 figure 5, as corrected by RFC 6026 §7.2: a 2xx leads to accepted, where further 2xx (forks and
// retransmissions) reach the core. `cancel` and `timerCancel` are RFC 3261 §9.1: CANCEL waits for a provisional
// response, and without a final response 64*T1 later the transaction is given up. Timer C is that of RFC 3261 §16.6,
// here for a UAC: 101 to 199 restart it. `connectionLost` and `timerLost` are the transport error of RFC 3261 §17.1.4
// for a request that was sent: the connection for its response is gone, and no response has arrived in time by another
// one.
export const inviteClient: ClientMachine = {
  calling: {
    start: ['calling', 'startTimerA', 'startTimerB', 'send'],
    timerA: ['calling', 'doubleTimerA', 'send'],
    timerB: ['terminated', 'reportTimeout'],
    '100': ['proceeding', 'startTimerC', 'passUp', 'sendNotedCancel'],
    '1xx': ['proceeding', 'startTimerC', 'passUp', 'sendNotedCancel'],
    '2xx': ['accepted', 'startTimerM', 'passUp'],
    '300-699': ['completed', 'startTimerD', 'sendAck', 'passUp'],
    cancel: ['calling', 'noteCancel'],
    connectionLost: ['calling', 'startTimerLost'],
    timerLost: ['terminated', 'reportTransportError'],
    transportError: ['terminated', 'reportTransportError'],
  },
  trying: {},
  proceeding: {
    '100': ['proceeding', 'passUp'],
    '1xx': ['proceeding', 'startTimerC', 'passUp'],
    '2xx': ['accepted', 'startTimerM', 'passUp'],
    '300-699': ['completed', 'startTimerD', 'sendAck', 'passUp'],
    cancel: ['proceeding', 'sendCancel', 'startTimerCancel'],
    timerC: ['proceeding', 'sendCancel', 'startTimerCancel'],
    timerCancel: ['terminated', 'reportTimeout'],
  },
  accepted: {
    '2xx': ['accepted', 'passUp'],
    timerM: ['terminated'],
  },
  completed: {
    '300-699': ['completed', 'sendAck'],
    timerD: ['terminated'],
  },
  terminated: {},
}

// RFC 3261 §17.1.2.2 figure 6.
export const nonInviteClient: ClientMachine = {
  calling: {},
  trying: {
    start: ['trying', 'startTimerE', 'startTimerF', 'send'],
    timerE: ['trying', 'doubleTimerE', 'send'],
    timerF: ['terminated', 'reportTimeout'],
    '1xx': ['proceeding', 'startTimerEAtT2', 'passUp'],
    '200-699': ['completed', 'startTimerK', 'passUp'],
    connectionLost: ['trying', 'startTimerLost'],
    timerLost: ['terminated', 'reportTransportError'],
    transportError: ['terminated', 'reportTransportError'],
  },
  proceeding: {
    timerE: ['proceeding', 'startTimerEAtT2', 'send'],
    timerF: ['terminated', 'reportTimeout'],
    '1xx': ['proceeding', 'passUp'],
    '200-699': ['completed', 'startTimerK', 'passUp'],
    transportError: ['terminated', 'reportTransportError'],
  },
  accepted: {},
  completed: {
    timerK: ['terminated'],
  },
  terminated: {},
}
