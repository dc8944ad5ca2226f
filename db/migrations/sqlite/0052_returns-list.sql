DROP INDEX `returns_open`;--> statement-breakpoint
CREATE INDEX `returns_shop` ON `returns` (`shop_id`,`id`);--> statement-breakpoint
CREATE INDEX `returns_status` ON `returns` (`shop_id`,`status`,`id`);