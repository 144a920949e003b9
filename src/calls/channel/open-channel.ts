// The channel of a leg: the leg's journal gets the events of the socket, and commands of the application enter the
// session.
import { AppError } from '../../lib/errors.ts'
import { shownUrl } from '../../lib/shown-url.ts'
import type { Hook } from '../../contracts/hook.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import { Channel } from './channel.ts'
import type { CommandFrame } from './frames.ts'
import type { AppSockets } from '../../contracts/app-socket.ts'
import type { Clock } from '../../lib/clock.ts'
import type { HeardPaces } from './heard-pace.ts'

export interface ChannelUser {
  readonly leg: Leg
  /** Gets a command that the application sends by itself. */
  readonly command: (frame: CommandFrame) => void
  /** Gets the verbs in the ack of a resumed session. */
  readonly resumed: (data: unknown) => void
  readonly closed: () => void
}

/** The most notes of each kind, so that an application cannot fill the journal. */
const maxNotes = 20

export interface ChannelNeeds {
  readonly appSockets: AppSockets
  readonly clock: Clock
  readonly heardPaces: HeardPaces
}

export function openChannel(
  hook: Hook,
  user: ChannelUser,
  { appSockets: sockets, clock, heardPaces }: ChannelNeeds,
): Channel {
  const { leg, command, resumed, closed } = user
  const { journal, log, call_sid } = leg
  const { account_sid } = journal.facts.started
  const url = shownUrl(hook.url)
  const counts = new Map<string, number>()
  const few = (kind: string, note: () => void): void => {
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    if (count <= maxNotes) note()
  }
  const channel: Channel = new Channel({
    account_sid,
    hook,
    sockets,
    clock,
    log,
    paceHeard: heardPaces.socketOf(account_sid),
    threadTime: heardPaces.threadTime,
    listener: {
      command,
      malformed(details, content) {
        few('malformed', () => noteProblem(leg, new AppError('invalid_frame', details)))
        const data = { msg: 'InvalidMessage', details, content }
        channel.tell({ type: 'jambonz:error', call_sid, data })
      },
      opened: (connection, dropped) =>
        journal.note({ type: 'socket-opened', url, connection, ...(dropped > 0 ? { dropped } : {}) }),
      lost: ({ code, because }) => journal.note({ type: 'socket-lost', url, code, because }),
      closed(end) {
        journal.note({ type: 'socket-closed', url, ...end })
        closed()
      },
      resumed,
      strayAck: (msgid) =>
        few('stray', () => journal.note({ type: 'note', sentence: `no message waits for the ack ${msgid}` })),
      slowed: () =>
        few('slowed', () =>
          journal.note({ type: 'note', sentence: 'the application sends faster than it is read, and waits' }),
        ),
    },
  })
  return channel
}
