// Commands that an application over WebSocket sends by itself. They enter its session as commands of the REST API do:
// one by one, and each only to a leg of this session.
import { AppError } from '../../lib/errors.ts'
import type { CommandFrame } from '../channel/frames.ts'
import type { RunnableCommand } from './command.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import { toAppError } from '../journal/refusals.ts'
import { verbsIn, type FrameVerbsOptions } from './frame-verbs.ts'
import type { ChannelHearer, RoutedApplication } from '../application/routed-application.ts'
import { toLetter } from './run-commands.ts'

export interface FrameOptions extends FrameVerbsOptions {
  readonly leg: Leg
  readonly application: RoutedApplication
}

/** The most failed commands that the journal gets. The application gets an error for each. */
const maxProblems = 100
const maxNameLength = 64

export interface FrameHearer extends ChannelHearer {
  /** Runs the commands that came before the verbs. */
  start(): void
}

/** The same as a session's mailbox holds. */
const maxEarly = 32

export function hearFrames(options: FrameOptions): FrameHearer {
  const { leg, application, queue, needs } = options
  let problems = 0
  /** Commands that arrive with the first ack or before it, when no verbs run yet. */
  let early: CommandFrame[] | undefined = []
  const refuse = (error: unknown, { command }: Pick<CommandFrame, 'command'>): void => {
    const { code, message, cure } = toAppError(error, leg.log)
    const details = `${command.slice(0, maxNameLength)}: ${message}`
    if (++problems <= maxProblems) noteProblem(leg, new AppError(code, details, { cure, cause: error }))
    application.tellError(leg.call_sid, {
      msg: 'InvalidCommand',
      details,
      command: command.slice(0, maxNameLength),
      code,
      cure,
    })
  }
  const begin = (frame: CommandFrame): void => {
    try {
      const target = legOf(frame, options)
      const commands = commandsIn(frame, options, (error) => refuse(error, frame))
      const sent = target.session.mailbox.put(toLetter(target, commands, 'application'))
      sent.catch((error: unknown) => refuse(error, frame))
    } catch (error) {
      refuse(error, frame)
    }
  }
  return {
    start() {
      const frames = early ?? []
      early = undefined
      for (const frame of frames) begin(frame)
    },
    command(frame) {
      if (early === undefined) begin(frame)
      else if (early.length < maxEarly) early.push(frame)
      else refuse(new AppError('overloaded', 'too many commands have come before the first verbs run'), frame)
    },
    resumed(data) {
      try {
        const verbs = Array.isArray(data) && data.length > 0 ? needs.verbs(data) : []
        if (verbs.length > 0) queue.replace(verbs)
      } catch (error) {
        refuse(error, { command: 'session:reconnect' })
      }
    },
    closed: () => queue.wake(),
  }
}

/** Reports a leg of another session or account as not found. */
function legOf({ callSid }: CommandFrame, { leg, needs }: FrameOptions): Leg {
  if (callSid === undefined || callSid === leg.call_sid) return leg
  const { account_sid } = leg.journal.facts.started
  const found = needs.registry.liveLeg(account_sid, callSid)
  if (found?.session === leg.session) return found
  throw new AppError('not_found', 'callSid names no live leg of this call')
}

function commandsIn(
  frame: CommandFrame,
  options: FrameOptions,
  refuse: (error: unknown) => void,
): readonly RunnableCommand[] {
  const own = verbsIn(frame, options, refuse)
  if (own !== undefined) return own
  const read = options.needs.frames(frame.command, frame.data)
  if (read === undefined)
    throw new AppError('not_served', 'there is no such command', {
      cure: 'Check its spelling: docs/reference/websocket.md lists the commands.',
    })
  return read
}
