import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  subtitle: 'Имэйл хаягтай, нэг цаг өөрчлөгдөөгүй сагс',
  none: 'Орхисон сагс алга',
  noneText: 'Худалдан авагч имэйлээ оруулсны дараа сагс энд харагдана.',
  changed: 'Сүүлд өөрчилсөн',
  items: 'Бараа',
  mail: 'Сагсны имэйл',
  mailed: 'Илгээсэн',
  notMailed: 'Илгээгээгүй',
  noConsent: 'Зөвшөөрөлгүй',
  recovered: 'Сэргээсэн',
  open: 'Захиалаагүй',
  order: 'Захиалга {number}',
  setting: 'Имэйлийн тохиргоо',
} satisfies Translation<typeof en>
