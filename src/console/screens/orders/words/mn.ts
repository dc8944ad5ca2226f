import type { Translation } from '../../../lib/words.ts'
import type en from './en.ts'

export default {
  title: 'Захиалга',
  search: 'Дугаар, нэр, и-мэйл, хаяг эсвэл бараа',
  payment: 'Төлбөр',
  number: 'Захиалга',
  customer: 'Худалдан авагч',
  guest: 'Зочин',
  total: 'Нийт',
  placed: 'Захиалсан',
  sending: 'Илгээлт',
  none: 'Захиалга алга',
  noneText: 'Хэн нэгэн худалдан авмагц энд гарна.',
} satisfies Translation<typeof en>
