import { describe, expect, it } from 'vitest'
import { audioKindOf } from './audio-kind.ts'

const ogg = (word: string): string => `OggS${'\0'.repeat(24)}${word}`

describe('the kind of a file', () => {
  it.each([
    ['RIFF....WAVEfmt ', 'wav'],
    ['ID3\x04', 'mp3'],
    ['\xff\xfb\x90\x00', 'mp3'],
    ['\xff\xe3\x18\xc4', 'mp3'],
    [ogg('OpusHead'), 'ogg-opus'],
    [ogg('\x01vorbis'), 'an Ogg Vorbis file'],
    [ogg('Theora'), 'an Ogg file without Opus in it'],
    ['fLaC', 'a FLAC file'],
    ['\xff\xf1\x50\x80', 'an AAC file'],
    ['\xff\xf9\x50\x80', 'an AAC file'],
    ['\0\0\0\x20ftypM4A ', 'an MP4 or M4A file (AAC)'],
    ['#!AMR\n', 'an AMR file'],
    ['FORM....AIFF', 'an AIFF file'],
    ['\n<!DOCTYPE html>', 'an HTML page'],
    ['<?xml version="1.0"?>', 'an XML document'],
    ['{"error":"no"}', 'a JSON document'],
    ['\x1f\x8b\x08', 'a file compressed with gzip'],
    ['', 'empty'],
    ['hello', 'of a kind that is not known'],
  ])('of %j is %s', (text, expected) => {
    const found = audioKindOf(Buffer.from(text, 'latin1'))
    expect(found.kind ?? found.what).toBe(expected)
  })
})
