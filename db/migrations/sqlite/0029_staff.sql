CREATE TABLE `staff` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`user_id` text,
	`email` text,
	`name` text,
	`role` text NOT NULL,
	`by_link` integer DEFAULT false NOT NULL,
	`invited_at` integer,
	`joined_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `staff_user_shop` ON `staff` (`user_id`,`shop_id`) WHERE user_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `staff_shop_email` ON `staff` (`shop_id`,`email`) WHERE email is not null;--> statement-breakpoint
CREATE INDEX `staff_shop` ON `staff` (`shop_id`,`id`);--> statement-breakpoint
-- by hand:
INSERT INTO `staff` (`id`, `shop_id`, `user_id`, `role`, `joined_at`, `created_at`, `updated_at`)
SELECT 'staff_' || substr(`id`, 6), `id`, `merchant_id`, 'OWNER', `created_at`, `created_at`, `created_at` FROM `shops`;
