// The command media_path: sets the path of the audio of a bridge.
import { defineCommand } from './define/define-command.ts'
import { oneOf } from './define/values.ts'

export const mediaPath = defineCommand({
  name: 'media_path',
  frame: 'media:path',
  description:
    'The path of the audio between the two. `no-media`: directly between them, like `exitMediaPath` of `dial`. `full-media`: through the platform; packets are forwarded unchanged if both use the same codec and nothing else is played. `partial-media`: through the platform too, and both are offered the same codec. `no-media` is refused with 422 if `anchorMedia` or `dtmfCapture` of the dial keeps the audio on the platform. If the two cannot exchange audio directly, it stays on the platform and the journals of both have the reason.',
  example: 'full-media',
  value: oneOf(['no-media', 'partial-media', 'full-media']),
  needs: 'bridge',
  cure: (path) =>
    path === 'no-media'
      ? 'Send it while the two talk, to a dial without anchorMedia and dtmfCapture.'
      : 'Send it while the two talk.',
  ready: (path, { bridge }) => ({ outcome: path, start: bridge.readyPath(path) }),
})
