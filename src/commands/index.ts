// Every command, sorted by name. A new command is one file and one line here.
import type { ReadCommands, ReadFrame } from '../calls/command.ts'
import { boostAudioSignal } from './boost-audio-signal.ts'
import { callHook } from './call-hook.ts'
import { callStatus } from './call-status.ts'
import { childCallHook } from './child-call-hook.ts'
import { confHoldStatus } from './conf-hold-status.ts'
import { confMuteStatus } from './conf-mute-status.ts'
import { conferenceParticipantAction } from './conference-participant-action.ts'
import type { Command } from './define/define-command.ts'
import { membersOf, rulesOf } from './define/describe-commands.ts'
import { readList } from './define/read-commands.ts'
import { readFrameOf } from './define/read-frames.ts'
import { dtmf } from './dtmf.ts'
import { dub } from './dub.ts'
import { listenStatus, streamStatus } from './listen-status.ts'
import { mediaPath } from './media-path.ts'
import { muteStatus } from './mute-status.ts'
import { record } from './record.ts'
import { sipRequest } from './sip-request.ts'
import { transcribeStatus } from './transcribe-status.ts'
import { tag } from './tag.ts'
import { whisper } from './whisper.ts'

const commands: readonly Command[] = [
  boostAudioSignal,
  callHook,
  callStatus,
  childCallHook,
  confHoldStatus,
  confMuteStatus,
  conferenceParticipantAction,
  dtmf,
  dub,
  listenStatus,
  mediaPath,
  muteStatus,
  record,
  sipRequest,
  streamStatus,
  tag,
  transcribeStatus,
  whisper,
]

export const readCommands: ReadCommands = (asked) => readList(asked, commands)

export const readFrame: ReadFrame = (frame, data) => readFrameOf(frame, data, commands)

/** The members of the body of a request: the commands, served or not, and their additions. */
export const commandMembers = membersOf(commands)

/** The commands as frames of an application over WebSocket, for the reference. */
export const commandFrames = commands.map(({ frame, name, description }) => ({ frame, name, description }))

/** An example of a request for each command. */
export const commandExamples = commands.map(({ name, frame, value, example }) => ({
  name,
  frame,
  value,
  example,
}))

/** The sentences about the commands that a request may have. */
export const commandRules = rulesOf(commands)
