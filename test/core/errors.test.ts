import { expect, test } from 'bun:test'
import { AppError, OperatorError } from '../../src/core/errors.ts'
import { OutgoingError } from '../../src/core/outgoing.ts'

test('each error class logs its own name', () => {
  const errors = [new AppError('INVALID', 'a'), new OperatorError('a'), new OutgoingError('timeout')]
  expect(errors.map(String)).toEqual(['AppError: a', 'OperatorError: a', 'OutgoingError: timeout'])
})
