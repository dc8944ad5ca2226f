DROP INDEX `kpi_days_ranked`;--> statement-breakpoint
DROP INDEX `kpi_days_of_key`;--> statement-breakpoint
CREATE INDEX `kpi_days_ranked` ON `kpi_days` (`kpi`,`span`,`day`,`value`,`key`) WHERE kpi in ('MERCHANT_CENTS', 'PRODUCT_UNITS', 'TEST_MERCHANT_CENTS', 'TEST_PRODUCT_UNITS');--> statement-breakpoint
CREATE INDEX `kpi_days_of_key` ON `kpi_days` (`kpi`,`key`,`span`,`day`,`value`) WHERE kpi in ('MERCHANT_CENTS', 'MERCHANT_ORDERS', 'PRODUCT_CENTS', 'PRODUCT_UNITS', 'TEST_MERCHANT_CENTS', 'TEST_MERCHANT_ORDERS', 'TEST_PRODUCT_CENTS', 'TEST_PRODUCT_UNITS');--> statement-breakpoint
ALTER TABLE `staff` ADD `invited_by_mail` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `staff` ADD `accepted_by` text REFERENCES users(id);--> statement-breakpoint
CREATE INDEX `staff_accepted` ON `staff` (`accepted_by`) WHERE accepted_by is not null;