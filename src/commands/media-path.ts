// The command media_path: sets the path of the audio of a bridge.
import { defineCommand } from './define/define-command.ts'
import { oneOf } from './define/values.ts'

export const mediaPath = defineCommand({
  name: 'media_path',
  frame: 'media:path',
  description:
    'Which way the sound of the two takes. `no-media`: past the platform, as `exitMediaPath` of `dial` says. `full-media`: through the platform; packets are passed on as they come where both have one codec and nothing else is heard. `partial-media`: through the platform likewise, and both are asked for one codec. `no-media` is refused with 422 where `anchorMedia` or `dtmfCapture` of the dial keeps the sound; where the two cannot take it, it stays and the journals of both say why.',
  example: 'full-media',
  value: oneOf(['no-media', 'partial-media', 'full-media']),
  needs: 'bridge',
  cure: (path) =>
    path === 'no-media'
      ? 'Send it while the two talk, to a dial without anchorMedia and dtmfCapture.'
      : 'Send it while the two talk.',
  ready: (path, { bridge }) => ({ outcome: path, start: bridge.readyPath(path) }),
})
