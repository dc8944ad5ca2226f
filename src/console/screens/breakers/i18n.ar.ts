import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  hint: 'خمسة إخفاقات متتالية تفتح قاطع المعالج: تتجاوزه عمليات الدفع حتى يجده الفحص سليمًا.',
  host: 'المضيف',
  state: 'الحالة',
  failures: 'إخفاقات متتالية',
  since: 'مفتوح منذ',
  probe: 'الفحص التالي',
  CLOSED: 'مغلق',
  OPEN: 'مفتوح',
  HALF_OPEN: 'نصف مفتوح',
  isolated: 'معزول منذ {at}',
  isolate: 'عزل',
  isolateOf: 'عزل {name}',
  restoreOf: 'إعادة {name}',
  isolateText: 'لن تستخدم أي عملية دفع جديدة {name} حتى تعيده، في كل العمليات. المدفوعات الجارية تستمر وكذلك المبالغ المستردة.',
  done: 'عُزل {name}',
  undone: 'عاد {name} يستقبل المدفوعات',
  noHosts: 'لم يُسأل شيئًا بعد',
} satisfies Translation<typeof en>
