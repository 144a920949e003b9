// docs/reference/websocket.md, from scripts/reference/socket-frames.ts and the declarations of commands.
import { heardFrames, sentFrames, socketExamples, type FrameDescription } from './socket-frames.ts'
import { commandFrames } from '../../src/commands/index.ts'
import { table } from '../../src/api/docs/schema-text.ts'
import { page } from './page.ts'

export function webSocketPage(): string {
  const examples = socketExamples()
  const section = ({ name, example, meaning }: FrameDescription): string[] => [
    '',
    `### ${name}`,
    '',
    meaning,
    '',
    '```json',
    JSON.stringify(examples[example], null, 2),
    '```',
  ]
  return page('Applications over WebSocket', '`scripts/reference/socket-frames.ts`, `src/commands`', [
    ...connection,
    '',
    '## From the platform',
    ...sentFrames.flatMap(section),
    '',
    '## To the platform',
    ...heardFrames.flatMap(section),
    '',
    '### Other commands',
    '',
    'Each is that of `PUT /Accounts/{AccountSid}/Calls/{CallSid}`: `data` is its value, alone or under its name. `callSid` names the',
    'leg of this call that is meant; without it, it is the one that the application runs. A leg of another call is refused.',
    '',
    ...table(
      ['Command', 'Value', 'What it does'],
      commandFrames.map(({ frame, name, description }) => [`\`${frame}\``, `\`${name}\``, description]),
    ),
  ])
}

const connection = [
  'An application whose `call_hook` is a `ws://` or `wss://` URL is asked over a WebSocket that the platform opens: one for each call.',
  'Messages are JSON texts; the examples were recorded by a test. A guide: [your first application over WebSocket](../guides/websocket.md).',
  '',
  '## The socket',
  '',
  '- The handshake asks for the subprotocol `ws.jambonz.org`; a server that picks none is accepted. It carries `Authorization: Basic`',
  '  with `username` and `password` of the hook, and the signatures of a hook over the text `null`. It may take 1.5 s and be redirected twice.',
  '- A first connection that fails is tried again up to five times: `#rc=2&rp=ct` after the URL says how often, and after which failures',
  '  (`ct`: no connection, or none within its 1.5 s; `5xx`: a refusal).',
  '- The same addresses are refused as for hooks over HTTP, also after a redirect, and certificates are checked.',
  '- A message may have 24 KiB (`SWITCHHOOK_SOCKET_MAX_MESSAGE`); a longer one breaks the socket, as a binary one does (1003).',
  '  One that is nested more than 32 levels deep is refused with `jambonz:error`.',
  '- A socket that breaks is opened again after 500, 1000, 2000 and 4000 ms, five connections in all; one that has lasted a minute',
  '  may be opened as often again. Messages wait meanwhile (500, or 1 MiB); questions without an ack are sent again with the same `msgid`.',
  '- When you close it with 1000 no other is opened. The platform closes it with 1000 when the call is over, and with 1001 when the',
  '  first ack was missing or had no verbs.',
  '- A call stays up when its verbs have run: it waits for a command. When no socket will come any more, it ends with its verbs.',
  '- A fact that is known only after the call (`event: "recording"` of `call_status_hook`, the end of a call whose process was killed) is sent as a',
  '  `call:status` over a socket of its own, which the platform closes with 1000. The same holds for every change of a call whose application is asked over',
  '  HTTP, where `call_status_hook` is a WebSocket URL. It is repeated until a socket could be opened; a repetition has the same `msgid`.',
  '- `b3` of each message is `<trace>-<span>-1`: the trace of the call, and the message as a span of it.',
  '- Messages are read as they come, 200 at once and then 100 a second; more wait in the network. A socket with more than 100',
  '  pings or pongs in a second is cut (1008).',
  '- A hook that is an absolute HTTP URL is asked over HTTP. An absolute WebSocket URL in an application over HTTP opens a socket,',
  '  which begins with `session:new`, and the application goes on over it.',
]
